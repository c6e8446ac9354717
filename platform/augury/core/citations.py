"""Papers that operators and regimes implement, for citation in model cards."""

Paper = str
"""Authors, year, title, venue and address of a publication."""

CIPHERDAUG = (
    "Kambhatla, Born and Sarkar (2022): CipherDAug: Ciphertext based Data Augmentation for "
    "Neural Machine Translation. ACL. <https://aclanthology.org/2022.acl-long.17/>"
)
DATA_DIVERSIFICATION = (
    "Nguyen, Joty, Wu and Aw (2020): Data Diversification: A Simple Strategy For Neural Machine "
    "Translation. NeurIPS. <https://arxiv.org/abs/1911.01986>"
)
NOISY_NMT = (
    "Li and Specia (2019): Improving Neural Machine Translation Robustness via Data "
    "Augmentation: Beyond Back-Translation. W-NUT. <https://aclanthology.org/D19-5543/>"
)
R_DROP = (
    "Liang et al. (2021): R-Drop: Regularized Dropout for Neural Networks. NeurIPS. "
    "<https://arxiv.org/abs/2106.14448>"
)
SWITCHOUT = (
    "Wang, Pham, Dai and Neubig (2018): SwitchOut: an Efficient Data Augmentation Algorithm for "
    "Neural Machine Translation. EMNLP. <https://aclanthology.org/D18-1100/>"
)
RAML = (
    "Norouzi et al. (2016): Reward Augmented Maximum Likelihood for Neural Structured "
    "Prediction. NeurIPS. <https://arxiv.org/abs/1609.00150>"
)
BPE_DROPOUT = (
    "Provilkov, Emelianenko and Voita (2020): BPE-Dropout: Simple and Effective Subword "
    "Regularization. ACL. <https://aclanthology.org/2020.acl-main.170/>"
)
CROSS_LINGUAL_NLI = (
    "Dong, Zhu, Fu, Xu and de Melo (2021): Data Augmentation with Adversarial Training for "
    "Cross-Lingual NLI. ACL. <https://aclanthology.org/2021.acl-long.401/>"
)
EDA = (
    "Wei and Zou (2019): EDA: Easy Data Augmentation Techniques for Boosting Performance on "
    "Text Classification Tasks. EMNLP. <https://aclanthology.org/D19-1670/>"
)
PGD = (
    "Madry et al. (2018): Towards Deep Learning Models Resistant to Adversarial Attacks. ICLR. "
    "<https://arxiv.org/abs/1706.06083>"
)
FGM = (
    "Miyato, Dai and Goodfellow (2017): Adversarial Training Methods for Semi-Supervised Text "
    "Classification. ICLR. <https://arxiv.org/abs/1605.07725>"
)
FUZZY_MATCHES = (
    "Bulte and Tezcan (2019): Neural Fuzzy Repair: Integrating Fuzzy Matches into Neural "
    "Machine Translation. ACL. <https://aclanthology.org/P19-1175/>"
)
