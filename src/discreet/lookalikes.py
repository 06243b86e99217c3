"""Letters that a person takes for others: names and words that look the same must not pass for different ones."""

from __future__ import annotations

# letters of other alphabets that are drawn like Latin ones: capitals (some have small letters that look otherwise)
LIKE_CAPITALS = str.maketrans(
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹͿ" + "АВЕЅІЈКМНОРСТУХҮԚԜԌӀ" + "ՕՍՏԼ"  # Greek, Cyrillic, Armenian
    "ᎠᎡᎢᎩᎪᎫᎬᎳᎷᎻᎽᏀᏃᏔᏙᏚᏞᏟᏢᏦᏴ" + "ⲀⲂⲎⲒⲔⲘⲚⲞⲢⲤⲦⲨⲬ" + "ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ",  # Cherokee, Coptic, Lisu
    "ABEZHIKMNOPTYXCJ" + "ABESIJKMHOPCTYXYQWGI" + "OUSL"
    "DRTYAJEWMHYGZWVSLCPKB" + "ABHIKMNOPCTYX" + "BPDTGKJCZFMNLSRVHWXYAEIOU",
)  # fmt: skip
# and small ones, among them small capitals and letters of phonetics
LIKE_LATIN = str.maketrans(
    "αβγεηικμνορστυχωϲϳ" + "авгекмнопрстухѡѵүіјѕԁԛԝҽһӏ" + "օսոհցզգյ" + "ⲁⲓⲕⲟⲣⲥⲧⲩⲭ" + "ɑɡɩꞁ℮ƒ"
    "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ",
    "abyenikuvopotuxwcj" + "abrekmhonpctyxwvyijsdqwehl" + "ounhgqqj" + "aikopctyx" + "agilef"
    "abcdefghijklmnoprstuvwyz",
)  # fmt: skip
LIKE_EACH_OTHER = str.maketrans("01|ıǀ", "ollil")  # and within the Latin ones: nought, one, bars, i without its dot
LIKE_L = str.maketrans("I", "l")  # a capital that is drawn like a small l


def in_latin(text: str) -> str:
    """A text in the small Latin letters that a person takes its letters for."""
    return text.translate(LIKE_CAPITALS).casefold().translate(LIKE_LATIN)
