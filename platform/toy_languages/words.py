"""Tables of the hand-written words of the synthetic language pair, and of the syllables of its rare
words.

Kinds of nouns: `p` person, `a` animal, `t` thing, `f` food, `i` a place one is in, `s` a place one
is on. Two entries may share their German form; the kind that a verb or preposition requires then
determines the translation (`das Schloss`: lock or castle, `die Bank`: bank or bench).
"""

from __future__ import annotations


def entries(table: str) -> list[str]:
    """Return the entries of a table."""
    return [entry.strip() for entry in table.replace("\n", " ").split(";")]


def rows(table: str) -> list[list[str]]:
    """Return the entries of a table, as columns."""
    return [entry.split() for entry in entries(table)]


# Article (with the English pronoun unless kind and gender determine it), singular, plural, English
# singular and irregular plural. `*` marks the n-declension, `+s` the linking element in a compound.
NOUNS = {
    "p": """
das Kind+er Kinder child children; die Frau+en Frauen woman women; der Mann+es Männer man men;
der Junge* Jungen boy; das/she Mädchen Mädchen girl; die Mutter Mütter mother; der Vater Väter father;
der König+s Könige king; der Freund+es Freunde friend; die Königin+nen Königinnen queen;
der Lehrer Lehrer teacher; der Bruder Brüder brother; die Schwester Schwestern sister; der Bauer* Bauern farmer;
die Großmutter Großmütter grandmother; die Hexe+n Hexen witch; der Onkel Onkel uncle; die Tante+n Tanten aunt;
der Nachbar* Nachbarn neighbour; der Riese* Riesen giant; der Zwerg+en Zwerge dwarf dwarves;
die Lehrerin+nen Lehrerinnen teacher; der Räuber Räuber robber; der Arzt Ärzte doctor; der Bäcker Bäcker baker;
der Müller Müller miller; die Prinzessin+nen Prinzessinnen princess; der Prinz* Prinzen prince;
der Sohn+es Söhne son; die Tochter Töchter daughter; der Ritter Ritter knight; der Zauberer Zauberer wizard;
der Jäger Jäger hunter; der Gärtner Gärtner gardener; der Fischer Fischer fisherman fishermen;
der Schneider Schneider tailor; der Schüler Schüler pupil; der Dieb+es Diebe thief thieves; der Gast Gäste guest
""",
    "a": """
der Hund+e Hunde dog; die Katze+n Katzen cat; das Pferd+e Pferde horse; der Vogel Vögel bird;
die Maus Mäuse mouse mice; der Bär* Bären bear; der Fuchs Füchse fox; die Kuh Kühe cow;
der Wolf+s Wölfe wolf wolves; der Hase* Hasen hare; die Ente+n Enten duck; der Fisch Fische fish fish;
das Schaf+s Schafe sheep sheep; die Ziege+n Ziegen goat; das Huhn Hühner hen; die Gans Gänse goose geese;
der Frosch Frösche frog; der Igel Igel hedgehog; die Eule+n Eulen owl; der Esel+s Esel donkey;
der Löwe* Löwen lion; der Affe* Affen monkey; das Schwein+e Schweine pig; der Rabe* Raben raven;
der Drache* Drachen dragon; die Biene+n Bienen bee; die Schnecke+n Schnecken snail;
das Eichhörnchen Eichhörnchen squirrel; der Elefant* Elefanten elephant;
der Schmetterling+s Schmetterlinge butterfly; die Spinne+n Spinnen spider; der Storch Störche stork
""",
    "t": """
das Buch Bücher book; die Tür Türen door; der Brief Briefe letter; der Ball Bälle ball;
der Schlüssel Schlüssel key; der Hut Hüte hat; der Stein Steine stone; das Bild+er Bilder picture;
der Korb Körbe basket; die Uhr Uhren clock; die Blume+n Blumen flower; der Stuhl Stühle chair;
das Fenster Fenster window; der Mantel Mäntel coat; das Messer Messer knife knives; der Schuh Schuhe shoe;
das Schiff+s Schiffe ship; die Lampe+n Lampen lamp; das Geschenk Geschenke present; der Spiegel Spiegel mirror;
der Löffel Löffel spoon; der Schatz Schätze treasure; der Wagen Wagen cart; die Flasche+n Flaschen bottle;
das Glas Gläser glass; die Krone+n Kronen crown; die Kiste+n Kisten box; das Schloss Schlösser lock;
die Decke+n Decken blanket; der Stock Stöcke stick; das Rad Räder wheel; die Puppe+n Puppen doll;
die Feder Federn feather; die Zeitung+s Zeitungen newspaper; die Kerze+n Kerzen candle;
die Trommel Trommeln drum; die Geige+n Geigen violin
""",
    "f": """
der Apfel Äpfel apple; der Kuchen Kuchen cake; das Ei+er Eier egg; die Suppe+n Suppen soup;
die Birne+n Birnen pear; die Nuss Nüsse nut; die Kartoffel Kartoffeln potato; die Kirsche+n Kirschen cherry;
die Wurst Würste sausage; die Torte+n Torten tart; die Pflaume+n Pflaumen plum; die Möhre+n Möhren carrot;
das Brötchen Brötchen roll; die Erdbeere Erdbeeren strawberry; der Pilz Pilze mushroom;
die Zwiebel Zwiebeln onion; die Bohne+n Bohnen bean; der Pfannkuchen Pfannkuchen pancake
""",
    "i": """
das Haus Häuser house; der Garten Gärten garden; der Wald Wälder forest; die Stadt Städte town;
die Schule Schulen school; die Küche+n Küchen kitchen; das Dorf Dörfer village; das Zimmer Zimmer room;
die Höhle+n Höhlen cave; das Schloss Schlösser castle; der Stall Ställe stable; der Keller Keller cellar;
der Turm Türme tower; die Kirche+n Kirchen church; der Fluss Flüsse river; der Laden Läden shop;
die Bank Banken bank; die Hütte+n Hütten hut; die Mühle+n Mühlen mill; die Scheune+n Scheunen barn;
das Tal Täler valley; die Bibliothek+s Bibliotheken library
""",
    "s": """
der Berg Berge mountain; der Tisch Tische table; die Wiese+n Wiesen meadow; die Straße+n Straßen street;
das Bett Betten bed; die Brücke+n Brücken bridge; der Baum Bäume tree; die Bank Bänke bench;
das Dach Dächer roof; das Feld Felder field; der Markt Märkte market; die Insel Inseln island;
der Hof Höfe yard; der Hügel Hügel hill; die Mauer Mauern wall; der Teppich Teppiche carpet;
der Boden Böden floor; die Treppe+n Treppen staircase; der Ast Äste branch
""",
}

# By frame. Kinds of subject > kinds of object, German (`sich`, `ist` for the perfect with sein, the
# separable prefix before `-`; then third person, preterite and participle if strong), `=`, English
# (base, then past and participle if irregular, `+` words after the inflected word, `!` never
# progressive).
VERBS = {
    "intransitive": """
pa schlafen schläft schlief geschlafen = sleep slept slept; p lachen = laugh;
p singen singt sang gesungen = sing sang sung; pa spielen = play; p tanzen = dance; p arbeiten = work;
p weinen = cry; pa ist auf-wachen = wake woke woken +up;
pa ist auf-stehen steht stand gestanden = get got got +up;
pa ist ein-schlafen schläft schlief geschlafen = fall fell fallen +asleep; p lächeln = smile;
pa träumen = dream; p Hunger_haben hat hatte gehabt = be +hungry !;
p Angst_haben hat hatte gehabt = be +afraid !; p ist nach_Hause_gehen geht ging gegangen = go went gone +home;
pa sich aus-ruhen = rest; p sich verstecken = hide hid hidden; p auf-räumen = tidy +up;
pa ist zurück-kommen kommt kam gekommen = come came come +back; pa schwitzen = sweat; pa zittern = tremble;
p Platz_nehmen nimmt nahm genommen = sit sat sat +down
""",
    "motion": """
pa ist gehen geht ging gegangen = go went gone; pa ist laufen läuft lief gelaufen = run ran run;
pa ist kommen kommt kam gekommen = come came come; p ist fahren fährt fuhr gefahren = drive drove driven;
a ist fliegen fliegt flog geflogen = fly flew flown; pa ist springen springt sprang gesprungen = jump;
pa ist klettern = climb; p ist wandern = hike; pa ist zurück-kehren = return;
p ist reiten reitet ritt geritten = ride rode ridden; pa ist eilen = hurry;
pa ist kriechen kriecht kroch gekrochen = crawl
""",
    "rest": """
pa sitzen sitzt saß gesessen = sit sat sat; pa liegen liegt lag gelegen = lie lay lain; p wohnen = live;
pa stehen steht stand gestanden = stand stood stood; pa warten = wait;
pa schlafen schläft schlief geschlafen = sleep slept slept; pa ist bleiben bleibt blieb geblieben = stay;
pa spielen = play; pa sich verstecken = hide hid hidden; p arbeiten = work
""",
    "accusative": """
pa>patfis sehen sieht sah gesehen = see saw seen !; p>tfa haben hat hatte gehabt = have had had !;
pa>patfi suchen = look +for; pa>patf finden findet fand gefunden = find found found;
pa>f essen isst aß gegessen = eat ate eaten; p>pa lieben = love !; p>tf kaufen = buy bought bought;
p>tf holen = fetch; p>pais kennen kennt kannte gekannt = know knew known !; pa>pa hören = hear heard heard !;
p>tf nehmen nimmt nahm genommen = take took taken; p>pat rufen ruft rief gerufen = call; p>tf brauchen = need !;
p>patis malen = paint; p>pi besuchen = visit; pa>tf tragen trägt trug getragen = carry; p>t auf-machen = open;
p>t zu-machen = close; p>a füttern = feed fed fed; pa>a fangen fängt fing gefangen = catch caught caught;
p>tf bringen bringt brachte gebracht = bring brought brought;
pa>tf stehlen stiehlt stahl gestohlen = steal stole stolen; p>p an-rufen ruft rief gerufen = phone;
p>f backen backt backte gebacken = bake; p>pa ein-laden lädt lud geladen = invite;
p>tis bauen = build built built; pa>pa jagen = chase; p>f kochen = cook;
p>patis an-sehen sieht sah gesehen = look +at; p>tf auf-heben hebt hob gehoben = pick +up; p>p fragen = ask;
p>pa retten = rescue; p>tfi verkaufen = sell sold sold;
p>tf mit-nehmen nimmt nahm genommen = take took taken +along; p>t lesen liest las gelesen = read read read;
p>pa wecken = wake woke woken; pa>tf verlieren verliert verlor verloren = lose lost lost;
p>t weg-werfen wirft warf geworfen = throw threw thrown +away; p>a streicheln = stroke;
pa>f auf-essen isst aß gegessen = eat ate eaten +up; p>ptis bewundern = admire; p>t reparieren = repair;
p>tais zeichnen = draw drew drawn; p>atf waschen wäscht wusch gewaschen = wash;
p>ptf vergessen vergisst vergaß vergessen = forget forgot forgotten !; p>tf verstecken = hide hid hidden
""",
    "dative": """
p>pa helfen hilft half geholfen = help; pa>pa ist folgen = follow; p>p danken = thank;
pa>pa ist begegnen = meet met met; p>p zu-hören = listen +to; p>p glauben = believe !; p>p antworten = answer;
p>p winken = wave +at; p>p gehorchen = obey
""",
    "ditransitive": """
p>tf geben gibt gab gegeben = give gave given; p>tfa zeigen = show showed shown;
p>tf bringen bringt brachte gebracht = bring brought brought; p>tfa schenken = give gave given;
p>tf schicken = send sent sent; p>t leihen leiht lieh geliehen = lend lent lent;
p>tfa verkaufen = sell sold sold; p>tf an-bieten bietet bot geboten = offer
""",
    "an4": """
p>paf denken denkt dachte gedacht = think thought thought +of; p>pai sich erinnern = remember !
""",
    "auf4": """
pa>paf warten = wait +for; p>pf sich freuen = look +forward_to; p>pat auf-passen = look +after
""",
    "mit3": """
pa>pat spielen = play +with; p>pa sprechen spricht sprach gesprochen = talk +to; p>p tanzen = dance +with;
p>p streiten streitet stritt gestritten = argue +with
""",
    "von3": """
pa>pafi träumen = dream +of; p>pai erzählen = tell told told +of
""",
    "vor3": """
pa>pa Angst_haben hat hatte gehabt = be +afraid_of !; pa>pa sich fürchten = fear !;
pa>pa ist weg-laufen läuft lief gelaufen = run ran run +away_from
""",
    "über4": """
p>pat lachen = laugh +at; p>pat sich wundern = be +surprised_at !
""",
    "experiencer": """
tfais>p gefallen gefällt gefiel gefallen = like !; f>p schmecken = enjoy !; pat>p fehlen = miss !;
ta>p gehören = own !
""",
    "clause": """
p sagen = say said said; p glauben = believe !; p wissen weiß wusste gewusst = know knew known !;
p hoffen = hope; p denken denkt dachte gedacht = think thought thought; p hören = hear heard heard !;
p erzählen = tell told told +us; p vergessen vergisst vergaß vergessen = forget forgot forgotten !
""",
    "infinitive": """
p versuchen = try; p hoffen = hope; p beschließen beschließt beschloss beschlossen = decide;
p an-fangen fängt fing gefangen = begin began begun !;
p vergessen vergisst vergaß vergessen = forget forgot forgotten !;
p versprechen verspricht versprach versprochen = promise; p sich weigern = refuse
""",
}

# German (`~` before the inflected stem), comparative stem, English, kinds, English adverb if there
# is one.
ADJECTIVES = """
klein kleiner small patfis; groß größer big patfis; alt älter old patis;
schön schöner beautiful patis beautifully; neu neuer new tis; jung jünger young pa; gut besser good ptfai well;
rot röter red atfi; kalt kälter cold fis; müde~müd müder tired pa; böse~bös böser evil pa; arm ärmer poor pa;
schnell schneller fast pat quickly; leise~leis leiser quiet pa quietly; lang länger long tisf;
laut lauter loud pai loudly; blau blauer blue ati; hungrig hungriger hungry pa hungrily;
dunkel~dunkl dunkler dark is; warm wärmer warm fis; klug klüger clever pa; weiß weißer white atfi;
schwarz schwärzer black at; traurig trauriger sad pa sadly; fröhlich fröhlicher merry pa merrily;
grün grüner green atfs; langsam langsamer slow pa slowly; stark stärker strong pa; süß süßer sweet f;
hoch~hoh höher high is; teuer~teur teurer expensive tfi; reich reicher rich p; leer leerer empty ti;
mutig mutiger brave pa bravely; dick dicker fat pat; gelb gelber yellow tfa;
freundlich freundlicher friendly pa; dumm dümmer silly pa; tief tiefer deep i deeply; schwer schwerer heavy tf;
braun brauner brown ta; schmutzig schmutziger dirty tis; kurz kürzer short tis; ruhig ruhiger calm pa calmly;
sauber~saubr sauberer clean tis; vorsichtig vorsichtiger careful pa carefully; heiß heißer hot f;
seltsam seltsamer strange patis strangely; faul fauler lazy pa lazily; berühmt berühmter famous pis;
stolz stolzer proud pa proudly; nass nasser wet ats; zornig zorniger angry pa angrily;
fleißig fleißiger diligent p diligently; geheimnisvoll geheimnisvoller mysterious pits mysteriously;
neugierig neugieriger curious pa curiously; feige~feig feiger timid pa
"""

# German, English, the required tense (any, present, ongoing, past, future) and `middle` if English
# has it before the main verb.
TIMES = """
heute|today|any; oft|often|any middle; immer|always|any middle; jetzt|now|present; gerade|now|ongoing;
gestern|yesterday|past; morgen|tomorrow|future; manchmal|sometimes|any middle; am Abend|in the evening|any;
nie|never|any middle; bald|soon|future; jeden Tag|every day|present; am Morgen|in the morning|any;
in der Nacht|at night|any; wieder|again|any; damals|back then|past; selten|rarely|any middle;
am Montag|on Monday|any; letzte Woche|last week|past; nächste Woche|next week|future; am Sonntag|on Sunday|any;
im Winter|in winter|any; im Sommer|in summer|any; nach dem Essen|after the meal|any;
plötzlich|suddenly|past middle; vor langer Zeit|long ago|past; übermorgen|the day after tomorrow|future;
jeden Morgen|every morning|present; am Mittwoch|on Wednesday|any; vorgestern|the day before yesterday|past;
im Frühling|in spring|any; am Samstag|on Saturday|any; im Herbst|in autumn|any; eines Tages|one day|past
"""

# Name, its pronoun.
NAMES = """
Anna she; Peter he; Maria she; Paul he; Lena she; Karl he; Emma she; Otto he; Greta she; Martin he; Klara she;
Emil he; Frieda she; Anton he; Ida she; Oskar he; Lotte she; Jakob he; Rosa she; Gustav he; Hanna she;
Konrad he; Mathilda she; Albert he
"""

CITIES = """
Wien Vienna; München Munich; Köln Cologne; Berlin Berlin; Zürich Zurich; Hamburg Hamburg; Nürnberg Nuremberg;
Genf Geneva; Prag Prague; Venedig Venice; Moskau Moscow; Warschau Warsaw
"""

# From 0 to 19, then the tens from 20.
NUMBERS = """
null zero; ein one; zwei two; drei three; vier four; fünf five; sechs six; sieben seven; acht eight; neun nine;
zehn ten; elf eleven; zwölf twelve; dreizehn thirteen; vierzehn fourteen; fünfzehn fifteen; sechzehn sixteen;
siebzehn seventeen; achtzehn eighteen; neunzehn nineteen
"""
TENS = """
zwanzig twenty; dreißig thirty; vierzig forty; fünfzig fifty; sechzig sixty; siebzig seventy; achtzig eighty;
neunzig ninety
"""

# Prepositions with the case they govern (3 dative, 4 accusative) and their translation, repeated by
# frequency.
LOCATIONS = {
    "i": "in3 in; in3 in; in3 in; in3 in; vor3 in_front_of; hinter3 behind; neben3 next_to",
    "s": "auf3 on; auf3 on; auf3 on; auf3 on; unter3 under; hinter3 behind; neben3 next_to",
}
DIRECTIONS = {
    "i": "in4 into; in4 into; in4 into; zu3 to; zu3 to; aus3 out_of; durch4 through",
    "s": "auf4 onto; auf4 onto; über4 over; zu3 to; von3 from; hinter4 behind; unter4 under",
}
COMPANY = "mit3 with; mit3 with; ohne4 without; für4 for"

# Rare words are syllables plus an ending; every German syllable has one English syllable.
SYLLABLES = """
schnau=whis brüm=dod kräl=gam flös=tink zwal=mer grön=pab pfus=lud knir=tob
murr=sel tröd=wack wuß=haf quen=jib spru=cal glim=fen hötz=rud bäch=nol
scha=vib lür=bex dom=kest rast=yul fink=orn neb=cor zir=pem tau=lork
wim=grem kolk=dap schrum=blith gäu=fosh mäk=tarn hul=ned ratz=umb treck=sim
üß=ock blö=hin gril=fosk nüs=palt wol=ebb druß=cham fähr=skeld jod=prin
kau=zel lemp=hog moos=trell öd=ilk pand=wex quirl=nub rösch=lam spält=dor
tüm=clun urk=bast vog=rint wend=moff zank=gull heck=pliv rumpf=tass schwäb=orl
flaus=kip gnom=deb knö=sarn trul=vap zeis=mund bir=chot läng=ust sö=rayl
klump=bruv schlonz=dweb trauf=nisk grus=hox pflim=zad quat=yelm dösch=plen lau=sorb
brack=tiv stelz=gock hüpp=warf nörg=blen schlur=fidd tapf=mosk kniff=rell gür=tav
zott=hib bim=larn rüm=cosp fläm=dunt pruk=swib hag=menk lod=quog muk=flent
täs=wib riep=scad zwur=pelm gack=nerl jup=brod kölp=ragg strög=yant plau=zeb
wäl=crof dunz=jelm ferl=bamp nüff=stril ruk=vosh samp=lumm töl=ferk unz=adge
vied=rond wipp=sesk zäus=nalt ächz=ipp eb=ulf ild=amm orsch=erk bulg=tweff
dröck=shom fulk=pidd gnei=snul hirz=clav kromp=degg lutz=harb mump=vint pfei=groob
schnef=tolk spöt=carn tresch=bive zwöl=muff
"""

# Kind, article, singular ending, plural ending, linking element, English ending.
RARE_NOUNS = """
p der er er - er; p die in innen nen ess; a der ling linge s kin; a das chen chen - let; t die ung ungen s ing;
t der el el - le; t die nis nisse - age; f die e en n ie; f der ich iche - ick; i das heim heime - ham;
i die burg burgen - bury; s der berg berge - hill; s das moor moore - fell
"""

# Frame and kinds; the first syllables follow from SEPARABLE and INSEPARABLE.
RARE_VERBS = """
accusative p>tf; accusative pa>pa; accusative pa>f; accusative p>patis; intransitive pa; motion pa; dative p>pa
"""

# German ending, English ending, English ending of the adverb.
RARE_ADJECTIVES = """
ig y ily; lich some somely; isch ish ishly; bar able ably; los less lessly
"""

SEPARABLE = {
    "auf": "up",
    "weg": "away",
    "aus": "out",
    "zurück": "back",
    "herum": "around",
    "ab": "off",
}
INSEPARABLE = {"be": "be", "ver": "for", "zer": "dis", "er": "out"}
