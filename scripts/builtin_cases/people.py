"""Invented names of people and places."""

from collections.abc import Callable
from random import Random

_FIRST = """
    Ada Alma Anneke Arno Beatriz Benedek Bruno Camila Carsten Chiara Dagny Dario Delia Edvard Elif Emeric Fabia Farid
    Fleur Gavril Greta Hanne Henrik Ilse Imre Ines Jarek Jonna Kaja Kamil Kerstin Lamin Leena Livia Lorcan Maarten
    Malin Marek Mirela Nadia Niamh Nestor Odile Orla Pavla Petros Quentin Radka Ramon Runa Salma Sander Signe Tomas
    Tove Ursa Vasil Viola Wim Yara Zofia Zoran
"""
_LAST = """
    Abelard Achterberg Aldana Amsel Andrade Arvidsen Balcer Barros Belmonte Bergqvist Birk Brandao Cardew Castellan
    Cerny Corrigan Dahlgren Delacroix Demirel Dorsey Drozd Eklund Elster Fabre Falk Farkas Ferreira Fiala Galanis
    Garrido Gebhart Gruber Haddad Halloran Hartog Hedlund Horvat Iglesias Ivarsen Jelinek Jovanic Kallas Karlin Keane
    Kessler Kovar Kruk Lacroix Laine Landau Lindqvist Lozano Maddox Malec Marchetti Mertens Mikkelsen Moravec Nagy
    Nesbitt Novotny Oduya Okafor Olsson Orsini Paquet Pereira Petrak Quiroga Rasmus Reiter Ribeiro Rusu Salgado Sanders
    Scholten Serban Sheridan Sokol Stavros Steiner Szabo Tanner Teller Thorne Ulrich Urbanek Valdes Varga Vasko Vidal
    Wolters Yilmaz Zabel Zeman
"""
_TOWNS = """
    Alderhaven Ambry Arlowe Aventhal Beckmoor Belgrano-on-Sea Brandholm Brevik-Sund Calderbruck Carnholt Castellfort
    Cordwen Dalhem Darnley-Cross Dornau Eastmere Eldford Falkenrode Fenwick-Bay Gansbach Glenarrow Grauwater Halvern
    Harsund Hollowmere Iselbruck Kaltenau Kestrel-Hill Kirrin Langerode Lindenmark Lorvane Marlstad Merrowby Monteviso
    Nordhalm Oakenshaw Orlavik Pellworth Quarn Ravensholt Rosmark Saltmere Sandviken-West Selwick Sternau Stonebeck
    Tarnholm Tessaly Thornwick Ulmental Valmora Vesper-Bay Wendmark Westerlo-Nieuw Winterfeld Yarrowdale Zellin
"""


def people(rng: Random) -> Callable[[], str]:
    """Returns a generator of full names with unique surnames."""
    last = iter(rng.sample(_LAST.split(), len(_LAST.split())))
    return lambda: f"{rng.choice(_FIRST.split())} {next(last)}"


def towns(rng: Random) -> Callable[[], str]:
    """Returns a generator of unique town names."""
    names = iter(rng.sample(_TOWNS.split(), len(_TOWNS.split())))
    return lambda: next(names)
