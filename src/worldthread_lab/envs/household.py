"""The vocabulary of houses to clean: rooms, their furniture, and the things that belong to each piece of furniture.

Every thing has one right place, which common sense finds without a doubt in a house with any of these rooms: no two
pieces of furniture compete for a thing (the frying pan is greasy and goes to the dishwasher, since a clean one could go
anywhere; coats hang in the hall, so the wardrobe holds none). Names are singular, so that the engine's articles are
right, and contain no preposition, so that the engine can parse a command. All differ in the first nine letters of their
words, since the engine compares only those. None begins with a capital P or I, which are the engine's own symbols of
player and inventory.

A change of this table changes the games of every seed: increase
:data:`worldthread_lab.envs.cleaning.GENERATOR_VERSION`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal["supporter", "open", "closed"]
"""Kind of a piece of furniture: things lie *on* a supporter, or *in* a container that starts open or closed."""


@dataclass(frozen=True)
class Furniture:
    """A piece of furniture and the things that belong to it."""

    name: str
    kind: Kind
    things: tuple[str, ...]

    @property
    def relation(self) -> str:
        """``"on"`` for a supporter, ``"in"`` for a container."""
        return "on" if self.kind == "supporter" else "in"


def _on(name: str, *things: str) -> Furniture:
    return Furniture(name, "supporter", things)


def _in(name: str, *things: str) -> Furniture:
    return Furniture(name, "open", things)


def _shut(name: str, *things: str) -> Furniture:
    return Furniture(name, "closed", things)


HOUSEHOLD: Final[Mapping[str, tuple[Furniture, ...]]] = {
    "Kitchen": (
        _shut("refrigerator", "milk carton", "raw steak", "yogurt cup"),
        _shut("dishwasher", "dirty plate", "dirty soup bowl", "greasy frying pan"),
        _on("spice rack", "cinnamon jar", "paprika jar", "oregano jar"),
        _on("knife rack", "bread knife", "carving knife", "meat cleaver"),
    ),
    "Bathroom": (
        _on("bathroom sink", "toothbrush", "toothpaste tube", "soap bar"),
        _shut("medicine cabinet", "aspirin bottle", "cough syrup", "gauze bandage"),
        _on("towel rail", "bath towel", "hand towel", "face towel"),
    ),
    "Bedroom": (
        _shut("wardrobe", "business suit", "evening gown", "silk blouse"),
        _on("bedside table", "alarm clock", "sleep mask", "bedside lamp"),
        _on("double bed", "feather pillow", "duvet", "patchwork quilt"),
        _shut("jewelry box", "pearl necklace", "gold earring", "ruby ring"),
    ),
    "Kids Room": (
        _shut("toy chest", "toy car", "teddy bear", "toy robot", "spinning top"),
        _on("school desk", "spelling workbook", "math workbook", "school timetable"),
        _in("dollhouse", "rag doll", "tiny doll chair", "tiny doll teapot"),
    ),
    "Living Room": (
        _on("TV stand", "remote control", "television", "game console"),
        _on("sofa", "backrest cushion", "armrest cover"),
        _on("fireplace tool stand", "fire poker", "ash shovel", "hearth brush"),
        _in("firewood basket", "oak log", "birch log", "kindling bundle"),
    ),
    "Dining Room": (
        _on("dining table", "elegant tablecloth", "flower centerpiece", "silver candelabra"),
        _shut("china cabinet", "porcelain teacup", "gravy boat", "soup tureen"),
        _on("wine rack", "merlot bottle", "burgundy bottle", "bordeaux bottle"),
    ),
    "Library": (
        _on("bookcase", "fantasy novel", "detective novel", "poetry anthology", "encyclopedia volume"),
        _on("magazine rack", "fashion magazine", "science magazine", "travel magazine"),
        _shut("map cabinet", "world map", "city map", "nautical chart"),
    ),
    "Gym": (
        _on("dumbbell rack", "heavy dumbbell", "light dumbbell", "kettlebell"),
        _on("exercise mat shelf", "yoga mat", "pilates mat", "gymnastics mat"),
        _shut("gym locker", "jump rope", "boxing glove", "sweatband"),
    ),
    "Swimming Pool": (
        _on("swim gear rack", "swimming goggles", "swim fin", "snorkel"),
        _shut("pool chemical bin", "chlorine canister", "algae remover", "water test kit"),
        _in("pool float bin", "inflatable ring", "pool noodle", "inflatable flamingo"),
    ),
    "Garage": (
        _on("tire rack", "spare tire", "snow tire", "racing tire"),
        _on("car supply shelf", "motor oil can", "car wax tin", "jumper cable", "windshield scraper"),
        _on("helmet peg", "motorcycle helmet", "bicycle helmet"),
    ),
    "Laundry Room": (
        _shut("washing machine", "dirty sock", "stained shirt", "sweaty jersey"),
        _on("detergent shelf", "laundry detergent", "fabric softener", "stain remover"),
        _on("ironing board", "steam iron", "starch spray"),
    ),
    "Home Office": (
        _on("office desk", "laptop computer", "stapler", "rubber stamp"),
        _shut("filing cabinet", "tax return", "insurance contract", "bank statement"),
        _on("printer stand", "laser printer", "ink cartridge", "printer paper"),
    ),
    "Music Room": (
        _on("instrument stand", "violin", "clarinet", "trumpet", "ukulele"),
        _on("sheet music stand", "sonata score", "waltz score", "opera score"),
        _shut("record cabinet", "jazz record", "blues record", "disco record"),
    ),
    "Workshop": (
        _on("tool pegboard", "claw hammer", "handsaw", "pipe wrench", "screwdriver"),
        _on("wall paint shelf", "wall paint bucket", "wood varnish", "paint roller"),
        _shut("hardware drawer", "steel nail", "wood screw", "hex bolt"),
    ),
    "Garden Shed": (
        _on("garden tool rack", "garden rake", "digging spade", "hedge trimmer"),
        _shut("seed drawer", "tomato seed packet", "sunflower seed packet", "carrot seed packet"),
        _on("potting bench", "clay flowerpot", "watering can", "potting soil"),
    ),
    "Art Studio": (
        _on("easel", "blank canvas", "unfinished portrait", "unfinished landscape"),
        _in("brush jar", "sable brush", "fan brush", "watercolor brush"),
        _shut("artist paint case", "oil paint tube", "acrylic paint tube", "gouache paint tube"),
    ),
    "Nursery": (
        _on("baby crib", "baby blanket", "crib bumper", "crib mattress"),
        _on("changing table", "diaper pack", "baby powder", "diaper cream"),
    ),
    "Entrance Hall": (
        _on("coat rack", "raincoat", "wool overcoat", "felt hat"),
        _shut("shoe cabinet", "hiking boot", "dress shoe", "leather sandal"),
        _in("umbrella stand", "black umbrella", "folding umbrella", "walking cane"),
    ),
}
"""Every room that a house may have."""

ALWAYS: Final = ("Kitchen", "Bathroom", "Bedroom")
"""Rooms that every house has."""
