"""Words that mean a total, in the languages of those who make tables: small letters, `-` for whatever stands between.

A list cannot know every word, nor a place of such a name: what a value means beside the others of its column is in
`made_of_others`, and what neither knows is said in the documentation.
"""

from __future__ import annotations

LEXICON = """
    total totals totalled tot ttl grand-total grand-totals grandtotal grand-sum sub-total sub-totals subtotal
    subtotals
    overall all sum sums everyone everybody everything altogether aggregate both combined any whole whole-country
    whole-population entire-population nationwide worldwide global world cumulative
    gesamt insgesamt ingesamt insg ges gesamtergebnis gesamtsumme gesamtzahl gesamtheit gesamtwert gesamtbevölkerung
    summe summen endsumme totalsumme zwischensumme alle alles beide sämtliche zusammen zus
    totaal eindtotaal subtotaal allemaal tezamen
    ensemble somme sommes tous toutes tout les-deux sous-total totaux totalité cumul
    suma todo todos todas ambos ambas totales conjunto toda-la-población somatório totais geral
    tots guztira guztiak denera
    totale totali somma tutti tutte complesso complessivo ambedue entrambi entrambe
    total-general toate toți însumat
    totalt summa totalsumma alla samtliga sammanlagt hela-landet båda sammenlagt tilsammen samlet i-alt ialt begge
    samtals allir alls hele-landet
    yhteensä yht kaikki kaikkiaan loppusumma koko-maa molemmat kokku kõik kopā kopsumma pavisam iš-viso viso visi
    bendra-suma
    razem ogółem łącznie suma-końcowa w-sumie wszystko wszyscy całość
    celkem celkom úhrn úhrnem součet všichni vše dohromady spolu súčet všetko všetci
    összes összesen mindösszesen végösszeg együtt mindenki
    ukupno sveukupno zbroj svi sve skupaj vsota vsi укупно свеукупно свега сви вкупно
    всього усього разом сума підсумок загалом усі усяго разам итого итог всего все всё сумма в-целом общий-итог
    общо всичко всички
    σύνολο γενικό-σύνολο συνολικά άθροισμα όλα όλοι
    gjithsej shuma të-gjitha iomlán cyfanswm pawb kollha
    toplam genel-toplam ara-toplam tümü hepsi tamamı cəmi jami барлығы бүгд სულ ընդամենը
    jumlah semua keseluruhan seluruhnya kabuuan jumla
    tổng tổng-cộng tổng-số tất-cả cộng รวม รวมทั้งหมด ทั้งหมด ยอดรวม
    合計 総計 計 総数 総合計 全体 全国 全て すべて トータル 男女 男女計
    合计 总计 總計 小计 小計 总和 總和 总数 總數 共计 共計 全部 全體 全國 汇总 总
    총계 합계 계 소계 전체 총합
    المجموع مجموع الإجمالي إجمالي الكل المجموع-الكلي جملة الجملة كلا-الجنسين جمع جمع-کل کل کل-تعداد
    סך-הכל סך-הכול סה-כ סהכ הכל
    कुल योग जोड़ सभी समस्त एकूण মোট সর্বমোট மொத்தம் మొత్తం
"""  # words that mean a total and hardly anything else; places of such a name are what rows_are_disjoint is for
EVERY = """
    all both every alle beide sämtliche tous toutes les-deux ensemble todos todas ambos ambas tutti tutte entrambi
    entrambe alla samtliga båda begge bægge kaikki molemmat wszystkie wszyscy obie oba obě všechny všetky oboje ambele
    toate mindkét összes оба все обе обидві усі всі ambdós
"""  # words that mean a total before one of the next
ARTICLES = "the|les|des|los|las|os|as|i|gli|le"
WHOLES = """
    ages age-groups persons people sexes genders rows groups categories areas regions counties states countries races
    causes districts provinces municipalities ethnicities residents individuals households patients values items
    altersgruppen altersklassen alter personen leute menschen geschlechter kreise länder bundesländer gemeinden
    regionen
    staaten gruppen kategorien
    âges ages sexes personnes régions départements communes pays groupes catégories tranches-d-âge
    edades sexos personas regiones provincias municipios países grupos categorías
    idades pessoas regiões municípios categorias
    età sessi persone regioni province comuni paesi gruppi categorie
    leeftijden geslachten gemeenten provincies landen groepen categorieën
    åldrar kön könen personer regioner kommuner län grupper aldre aldersgrupper køn kjønn
    ikäryhmät sukupuolet alueet henkilöt płcie grupy-wiekowe województwa regiony osoby
    pohlaví věkové-skupiny kraje okresy pohlavia sexe vârstele nem korcsoport megye
    пола возрасты регионы области статі регіони області
"""  # what tables are divided by, in the plural: 'All ages', 'Tous âges', 'Alle Personen', 'Ambos sexos'
LEADING = """
    total totals gesamt insgesamt summe totaal totale totalt yhteensä razem ogółem celkem celkom összesen ukupno
    skupaj
    итого всего всього усього разом общо укупно toplam toplamı jumlah kokku samtals gjithsej
"""  # others begin names
SUM_OF = "sum|summe|summa|suma|soma|somme|somma", "of|all|aller|der|av|de|des|do|da|dos|das|di|dei|delle"
AT_THE_END = "合計|合计|総計|总计|總計|総数|总数|總數|합계|총계"  # written without a space: 男女合計
MEN = """
    male males man men boys männer männlich jungen hommes garçons masculin hombres varones niños homens masculino
    maschi uomini mannen mannelijk jongens män pojkar menn mænd drenge gutter miehet pojat mężczyźni chłopcy
    muži muškarci
    moški férfiak férfi bărbați masculi мужчины мальчики чоловіки хлопці мъже άνδρες erkek erkekler laki-laki
    ذكور पुरुष
"""
WOMEN = """
    female females woman women girls frauen weiblich mädchen femmes filles féminin mujeres niñas mulheres feminino
    femmine donne vrouwen vrouwelijk meisjes kvinnor flickor kvinner kvinder piger jenter naiset tytöt kobiety
    dziewczęta ženy
    žene ženske nők nő femei женщины девочки жінки дівчата жени γυναίκες kadın kadınlar perempuan إناث وإناث महिला
"""
JOINED_BY = "and|or|und|oder|et|ou|y|o|e|en|of|og|och|ja|i|a|és|și|и|или|і|та|або|και|ve|veya|dan|atau|और"
