"""Places and given names that are common enough to tell what a name stands for."""

from __future__ import annotations

from holodeck.lib.providers.extractive.words import word_set

__all__ = ["GIVEN_NAMES", "PLACES"]

PLACES = frozenset(
    name.replace("_", " ")
    for name in word_set(
        # Continents and countries.
        "africa antarctica arctic asia europe oceania north_america south_america america "
        "afghanistan albania algeria angola argentina armenia australia austria azerbaijan bahrain "
        "bangladesh barbados belarus belgium bolivia botswana brazil bulgaria burma cambodia "
        "cameroon canada chad chile china colombia costa_rica croatia cuba cyprus czechoslovakia "
        "denmark ecuador egypt el_salvador england eritrea estonia ethiopia fiji finland france "
        "gabon georgia germany ghana great_britain britain greece greenland guatemala guyana haiti "
        "honduras hong_kong hungary iceland india indonesia iran iraq ireland israel italy jamaica "
        "japan jordan kazakhstan kenya kosovo kuwait laos latvia lebanon liberia libya lithuania "
        "luxembourg madagascar malaysia mali malta mauritius mexico moldova monaco mongolia "
        "montenegro morocco mozambique myanmar namibia nepal netherlands new_zealand nicaragua "
        "niger nigeria north_korea south_korea korea norway oman pakistan palestine panama "
        "papua_new_guinea paraguay persia peru philippines poland portugal prussia puerto_rico "
        "qatar romania russia rwanda saudi_arabia scotland senegal serbia sierra_leone singapore "
        "slovakia slovenia somalia south_africa soviet_union spain sri_lanka sudan suriname sweden "
        "switzerland syria taiwan tanzania thailand tibet tunisia turkey uganda ukraine uk "
        "united_kingdom uruguay us usa u.s. u.s.a. uzbekistan venezuela vietnam wales yemen "
        "yugoslavia zambia zimbabwe "
        # States and provinces.
        "alabama alaska arizona arkansas california colorado connecticut delaware florida hawaii "
        "idaho illinois indiana iowa kansas kentucky louisiana maine maryland massachusetts "
        "michigan minnesota mississippi missouri montana nebraska nevada new_hampshire new_jersey "
        "new_mexico north_carolina north_dakota ohio oklahoma oregon pennsylvania rhode_island "
        "south_carolina south_dakota tennessee texas utah vermont virginia west_virginia wisconsin "
        "wyoming alberta british_columbia manitoba ontario quebec saskatchewan queensland tasmania "
        "bavaria saxony catalonia lombardy tuscany sicily siberia bengal punjab kashmir "
        # Cities.
        "amsterdam ankara athens atlanta baghdad bangkok barcelona beijing beirut belgrade berlin "
        "birmingham bombay boston brooklyn brussels bucharest budapest buenos_aires cairo calcutta "
        "cape_town chennai chicago copenhagen dallas damascus delhi denver detroit dresden dublin "
        "edinburgh frankfurt geneva glasgow hamburg hanoi havana helsinki hiroshima houston "
        "istanbul jakarta jerusalem johannesburg karachi kiev kyiv kyoto lagos lahore leningrad "
        "lima lisbon liverpool london los_angeles lyon madrid manchester manhattan manila "
        "marseille melbourne miami milan montreal moscow mumbai munich nairobi nanjing naples "
        "new_delhi new_orleans new_york osaka oslo ottawa oxford paris philadelphia phoenix "
        "pittsburgh prague rio_de_janeiro rome rotterdam saint_petersburg san_diego san_francisco "
        "santiago sao_paulo são_paulo seattle seoul shanghai stockholm sydney taipei tehran "
        "tel_aviv tokyo toronto vancouver venice vienna warsaw washington zurich"
    )
)

GIVEN_NAMES = word_set(
    # Left out: names that are as often something else (Will, May, Rose, Virginia, Georgia …).
    "aaron abraham adam adolf agnes ahmed alan albert alexander alexandra alfred ali alice allen "
    "amanda amy andrea andreas andrew angela anita ann anna anne anthony antonio arthur barbara "
    "ben benjamin bernard betty bill bob bobby boris brian bruce carl carlos carol caroline "
    "catherine cecil charles charlie charlotte christian christina christine christopher claude "
    "craig cynthia daniel david deborah dennis diana diane dick donald dorothy douglas edgar "
    "edith edmund eduardo edward edwin eleanor elena elizabeth ellen elsa emily emma eric erich "
    "ernest ernst eugene eva evelyn fatima felix fernando francis francisco frank franz frederick "
    "friedrich fritz gabriel gary geoffrey george gerald gerard gilbert giovanni giuseppe gordon "
    "graham gregory guillermo gustav hannah hans harold harriet harry hassan heather heinrich "
    "helen henri henry herbert herman hermann howard hubert hugh hugo ian ibrahim igor irene "
    "isaac isabel isabella ivan jack jacob jacques jakob james jane janet jason jean jeff jeffrey "
    "jennifer jeremy jerry jessica jim jimmy joan joanna joe johann johannes john johnny jonathan "
    "jorge joseph joshua josé juan judith julia julian julie karen karl kate katherine kathleen "
    "keith kenneth kevin kurt larry laura lawrence leo leon leonard leonardo leslie lewis lisa "
    "louis louise lucas lucy ludwig luis luke manuel marcel marco marcus margaret maria marie "
    "mario martha martin mary matthew maurice max michael michelle miguel mikhail mohamed mohammad "
    "mohammed muhammad nancy natalie nathan neil nicholas nicolas nikolai nina noah olga oliver "
    "oscar otto pablo pamela patricia patrick paul pauline pedro peter philip philippe pierre "
    "rachel ralph raymond rebecca richard robert roberto robin roger roland ronald rosa roy "
    "rudolf rudolph rupert ruth salvador samuel sandra sarah sean sebastian sergei sharon sigmund "
    "simon sophia sophie stanley stefan stephanie stephen steve steven stuart susan sylvia "
    "theodore theresa thomas timothy tom tony ursula vera victor victoria vincent vladimir "
    "walter werner wilhelm william winston wolfgang yuri"
)
