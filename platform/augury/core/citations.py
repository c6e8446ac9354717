"""Papers that operators and regimes implement, for citation in model cards."""

from __future__ import annotations

from typing import NamedTuple


class Paper(NamedTuple):
    """A publication."""

    authors: str
    year: int
    title: str
    venue: str
    url: str

    def __str__(self) -> str:
        return f"{self.authors} ({self.year}): {self.title}. {self.venue}. <{self.url}>"


CIPHERDAUG = Paper(
    "Kambhatla, Born and Sarkar",
    2022,
    "CipherDAug: Ciphertext based Data Augmentation for Neural Machine Translation",
    "ACL",
    "https://aclanthology.org/2022.acl-long.17/",
)
DATA_DIVERSIFICATION = Paper(
    "Nguyen, Joty, Wu and Aw",
    2020,
    "Data Diversification: A Simple Strategy For Neural Machine Translation",
    "NeurIPS",
    "https://arxiv.org/abs/1911.01986",
)
NOISY_NMT = Paper(
    "Li and Specia",
    2019,
    "Improving Neural Machine Translation Robustness via Data Augmentation: Beyond "
    "Back-Translation",
    "W-NUT",
    "https://aclanthology.org/D19-5543/",
)
R_DROP = Paper(
    "Liang et al.",
    2021,
    "R-Drop: Regularized Dropout for Neural Networks",
    "NeurIPS",
    "https://arxiv.org/abs/2106.14448",
)
SWITCHOUT = Paper(
    "Wang, Pham, Dai and Neubig",
    2018,
    "SwitchOut: an Efficient Data Augmentation Algorithm for Neural Machine Translation",
    "EMNLP",
    "https://aclanthology.org/D18-1100/",
)
RAML = Paper(
    "Norouzi et al.",
    2016,
    "Reward Augmented Maximum Likelihood for Neural Structured Prediction",
    "NeurIPS",
    "https://arxiv.org/abs/1609.00150",
)
BPE_DROPOUT = Paper(
    "Provilkov, Emelianenko and Voita",
    2020,
    "BPE-Dropout: Simple and Effective Subword Regularization",
    "ACL",
    "https://aclanthology.org/2020.acl-main.170/",
)
CROSS_LINGUAL_NLI = Paper(
    "Dong, Zhu, Fu, Xu and de Melo",
    2021,
    "Data Augmentation with Adversarial Training for Cross-Lingual NLI",
    "ACL",
    "https://aclanthology.org/2021.acl-long.401/",
)
EDA = Paper(
    "Wei and Zou",
    2019,
    "EDA: Easy Data Augmentation Techniques for Boosting Performance on Text Classification Tasks",
    "EMNLP",
    "https://aclanthology.org/D19-1670/",
)
PGD = Paper(
    "Madry et al.",
    2018,
    "Towards Deep Learning Models Resistant to Adversarial Attacks",
    "ICLR",
    "https://arxiv.org/abs/1706.06083",
)
FGM = Paper(
    "Miyato, Dai and Goodfellow",
    2017,
    "Adversarial Training Methods for Semi-Supervised Text Classification",
    "ICLR",
    "https://arxiv.org/abs/1605.07725",
)
FUZZY_MATCHES = Paper(
    "Bulte and Tezcan",
    2019,
    "Neural Fuzzy Repair: Integrating Fuzzy Matches into Neural Machine Translation",
    "ACL",
    "https://aclanthology.org/P19-1175/",
)
