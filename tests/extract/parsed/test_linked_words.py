"""What ends where a message names only a part or the kind of a thing, in open words, and what only looks alike."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from worldthread import Fact, Memory
from worldthread.extract.parsed.linked_words import linked
from worldthread.models.fake import FakeEmbedder

pytestmark = pytest.mark.language

_FIRST = datetime(2024, 4, 10, 10, tzinfo=UTC)


def _ended(before: str, now: str) -> list[Fact]:
    with Memory(model="none", embedder=FakeEmbedder()) as memory:
        memory.remember([{"role": "user", "content": before}], at=_FIRST)
        held = set(memory.view().facts())
        assert held, "nothing was stated"
        memory.remember([{"role": "user", "content": now}], at=_FIRST + timedelta(days=1))
        return sorted(held - set(memory.view().facts()), key=str)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I'm a lifeguard at the Lido.", "Lido let all the lifeguards go, me included."),
        ("I play five-a-side on Mondays.", "Knees are shot so that's me done with five-a-side."),
        ("I'm on the parish council.", "I stood down from the parish council last night."),
        ("I smoke roll-ups.", "Six months off the roll-ups today."),
        ("I'm dating a firefighter.", "The firefighter and I are history."),
        ("We rent a garage on Mill Lane.", "Gave up the garage on Mill Lane, it was full of damp."),
        ("I have a cold.", "Cold's gone at last."),
        ("My rent is 800 a month.", "Landlord's stuck it up to 875."),
        ("My phone number is 07700 900111.", "Ditched that SIM, ring me on 07700 900222."),
        ("I'm pregnant.", "She's here! Seven pounds two, born at dawn."),
        ("I have a lodger called Ivan.", "Ivan moved out at the weekend."),
        ("I'm saving for a tent.", "Bought the tent this afternoon!"),
        ("I'm in a band called The Moths.", "The Moths have split up."),
        ("I collect stamps.", "I auctioned off the whole stamp collection."),
        ("I go to Zumba on Tuesdays.", "Zumba's been axed, nobody turned up."),
        ("My laptop is broken.", "Got the laptop back from the shop, good as new."),
        ("My nan is in hospital.", "Nan's been sent home."),
        ("I own a kebab shop.", "Signed the kebab shop over to my nephew."),
        ("I'm taking driving lessons.", "Passed my test first time!"),
        ("I'm secretary of the allotment society.", "Passed the secretary job on to Mo."),
        ("I'm reading Dune.", "Gave up on Dune halfway."),
        ("I drive a ute.", "Flogged the ute to a bloke from Dubbo."),
        ("I do night shifts at the depot.", "They've moved me to days, no more night shifts."),
        ("I'm on the dole.", "Started in the cannery on Monday, so I'm off the dole."),
        ("We have chickens.", "A fox had the chickens on Sunday night."),
        ("I have a paper round.", "Knocked the paper round on the head, too many hills."),
        ("I go to the mosque on Green Street.", "The mosque on Green Street shut and we pray at the new one."),
        ("My daughter plays the recorder.", "My daughter's swapped the recorder for the drums, God help us."),
        ("I have a tenant in the basement.", "The basement tenant has cleared out."),
        ("I run a podcast about trains.", "The train podcast has come to the end of the line, last episode is out."),
        ("I go to church every Sunday.", "I've stopped going to church."),
        ("I have asthma.", "Turns out I've outgrown my asthma."),
        ("I have a stall at the market.", "Gave up my stall, the rain was killing trade."),
        ("I have an appointment with the dentist on Friday.", "Dentist rang to cancel Friday."),
        ("My cousin is in the navy.", "My cousin's out of the navy."),
    ],
)
def test_a_fact_ends_by_a_part_of_what_it_is_about(before: str, now: str) -> None:
    assert _ended(before, now)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("I have a flat in Oban.", "We left the flat in Perth in a state."),
        ("I have a flat in Oban.", "The sale of next door's flat has gone through."),
        ("I have a car.", "My brother wrapped his car round a tree."),
        ("I have a car.", "The car park was sold off."),
        ("I own a restaurant in Bath.", "A restaurant in Bath has burned down."),
        ("I own a restaurant.", "A restaurant on our street went under."),
        ("I'm the treasurer of the PTA.", "The chair of the PTA has handed in her notice."),
        ("I'm a teaching assistant at St Bede's.", "Our caretaker left St Bede's on Friday."),
        ("I'm a nurse.", "My colleague quit nursing."),
        ("I'm knitting a jumper for my nephew.", "I dropped a stitch in the jumper again."),
        ("I'm knitting a jumper for my nephew.", "My mum finished her jumper before me."),
        ("I'm reading Middlemarch.", "I've put Middlemarch aside for the weekend."),
        ("I go climbing at the wall twice a week.", "I haven't climbed for a week, my finger hurts."),
        ("I go climbing at the wall twice a week.", "No climbing for me today."),
        ("I love horror films.", "The last horror film I saw was awful."),
        ("I'm vegan.", "My brother is not vegan any more."),
        ("I'm expecting my exam results any day.", "Liam's exam results are out."),
        ("I'm waiting for a new kidney.", "A new cafe has arrived on our street."),
        ("We're hoping to adopt a greyhound this summer.", "My friend adopted a greyhound."),
        ("Our wedding is booked at Elm Barn.", "We moved the wedding rehearsal to the church."),
        ("We named the puppy Rocket.", "Rocket answers to anything with cheese now."),
        ("I live in Leeds.", "My sister shifted to Hull."),
        ("I have a cast on my arm.", "They took the cast off my brother's leg."),
        ("I take ramipril.", "The chemist is out of ramipril."),
        ("I play the cello.", "I gave the cello a polish."),
        ("I play the cello.", "My stand partner gave up the cello."),
        ("I have a hamster called Biscuit.", "Biscuit got out of his cage but we found him."),
        ("I'm doing a diploma in marketing.", "I handed in the first essay of the diploma."),
        ("I'm captain of the darts team.", "We dropped our worst player from the darts team."),
        ("I weigh 90 kilos.", "The parcel was 20 kilos on the scales."),
        ("I have a dog.", "Took the dog for his last walk of the day."),
        ("I have a greenhouse.", "The wind nearly took the greenhouse."),
        ("I used to be a baker.", "I gave up the cake and had the salad."),
        ("I like tea.", "There's no tea left, can someone get some?"),
        ("I use a wheelchair.", "The wheelchair was left on the train but they sent it back."),
        ("I am planning a trip to Japan.", "The trip to Wales is off."),
        ("I'm learning Dutch.", "I passed the Dutch shop on the way."),
        ("I rent an allotment.", "Dug up the allotment this morning."),
        ("I have a landline.", "The landline was dead for an hour yesterday."),
        ("I run a bakery.", "The bakery is closed on Sunday for Easter."),
        ("I have braces.", "My son had his braces off today."),
        ("I owe Tom 50 pounds.", "Paid Tom a visit."),
        ("My nan is in hospital.", "My uncle's been sent home."),
        ("My nan is in hospital.", "Nan's allowed out in the garden for an hour."),
        ("My phone number is 07700 900111.", "Call the plumber on 0151 900333."),
        ("My rent is 800 a month.", "The landlord put my neighbour's rent up to 900."),
        ("My rent is 800 a month.", "The landlord wanted 900 but we talked him out of it."),
        ("My company is called Brightside.", "Our canteen was renamed the Hub."),
        ("I have a landline.", "They cut the line for tickets off at ten."),
        ("I have a cat.", "The cat next door ran away and never came back."),
        ("We have a cleaner.", "The cleaner has gone to lunch."),
        ("I have a lodger called Ivan.", "Ivan moved the sofa out at the weekend."),
        ("I smoke roll-ups.", "I've been off roll-ups since breakfast, let's see."),
        ("I'm on the parish council.", "Our chairman stood down from the parish council."),
        ("I play five-a-side on Mondays.", "My mate is done with five-a-side."),
        ("I take statins.", "I forgot my statins this morning."),
        ("I work at the docks.", "We left the docks at noon."),
        ("I have a motorbike.", "Some toerag nicked my mate's motorbike."),
        ("I'm going to Crete in June.", "My sister cancelled Crete."),
        ("I'm writing a dissertation on bees.", "My flatmate handed her dissertation in."),
    ],
)
def test_what_is_another_thing_or_passes_ends_nothing(before: str, now: str) -> None:
    assert _ended(before, now) == []


@pytest.mark.parametrize(
    ("text", "written", "expected"),
    [
        ("cancelled spotify, too dear", "Spotify Premium", "cancelled THING, too dear"),
        ("the sale of the oban flat went through", "flat in Oban", "the sale of THING went through"),
        ("no more horror for me", "horror films", "no more THING for me"),
        ("they found a new head of geography", "head of geography", "they found a new THING"),
        ("the rental car broke down", "car", None),
        ("the car park was sold", "car", None),
        ("his car was sold", "car", None),
        ("sold the flat in perth", "flat in Oban", None),
        ("i like spotify's offices", "Spotify Premium", None),
        ("jon is here", "Jon's dance studio", None),
    ],
)
def test_a_phrase_means_a_thing_when_nothing_in_it_says_otherwise(
    text: str, written: str, expected: str | None
) -> None:
    found = linked(text, written, "has", own=True, needs_head=False)
    assert (None if found is None else found[0]) == expected
