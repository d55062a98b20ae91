"""Sentences with their times, written before the rules; 2024-05-15 is a Wednesday."""

from __future__ import annotations

import math
import tomllib
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("dateutil")

from worldthread.errors import InputError
from worldthread.extract.times import TimeExpression, time_expressions, validity

DEVELOPMENT = Path(__file__).parents[2] / "benchmarks" / "language" / "dates_development.toml"
WEDNESDAY = "2024-05-15T10:00"
DAY = 86400.0


def seconds(time: str) -> float:
    return datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp()


def shown(time: float | None) -> str:
    return "" if time is None else datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M").removesuffix("T00:00")


def found(sentence: str, at: str = WEDNESDAY, language: str = "en") -> list[tuple[str, str, str, str, str]]:
    return [
        (sentence[e.start : e.end], shown(e.valid_from), shown(e.valid_to), e.role, e.precision)
        for e in time_expressions(sentence, seconds(at), language=language)
    ]


ENGLISH = [
    # days with slashes, where they can be read in one way only; else no more than the year
    ("On 8/17 we dropped Noah off.", [("On 8/17", "2023-08-17", "2023-08-18", "at", "day")]),
    ("I moved in on 12/12/23.", [("on 12/12/23", "2023-12-12", "2023-12-13", "at", "day")]),
    ("We are away from 6/13 through 6/17.", [("from 6/13 through 6/17", "2024-06-13", "2024-06-18", "during", "day")]),
    ("Enrollment is 6/27–7/8.", [("6/27–7/8", "2024-06-27", "2024-07-09", "at", "day")]),
    ("The contract ends on 3/6/26.", [("on 3/6/26", "2026-01-01", "2027-01-01", "at", "year")]),
    ("I bought it on 2/6.", []),
    ("They are open 24/7 and won 13/14 games.", []),
    ("I'm off the week of 27 May.", [("the week of 27 May", "2024-05-27", "2024-06-03", "at", "week")]),
    ("Canada Day we drove to Muskoka.", [("Canada Day", "2023-07-01", "2023-07-02", "at", "day")]),
    # a clause with a subject has a verb of its own, whatever the clause before it tells
    ("Yui postponed, she comes on 4 March now.", [("on 4 March", "2025-03-04", "2025-03-05", "at", "day")]),
    ("We broke up and he keeps the house from August.", [("from August", "2024-08-01", "", "since", "month")]),
    ("I met Vlad, a nurse, at a barbecue on the 12th.", [("on the 12th", "2024-05-12", "2024-05-13", "at", "day")]),
    # as far from today, and one before the last
    ("This time last year I lived in Cairo.", [("This time last year", "2023-05-15", "2023-05-16", "at", "year")]),
    ("We met the summer before last.", [("the summer before last", "2022-06-01", "2022-09-01", "at", "season")]),
    ("We met the Friday before last.", [("the Friday before last", "2024-05-03", "2024-05-04", "at", "day")]),
    ("I quit a couple of weeks back.", [("a couple of weeks back", "2024-05-01", "2024-05-02", "at", "week")]),
    ("We moved at the end of May 2022.", [("at the end of May 2022", "2022-05-31", "2022-06-01", "at", "month")]),
    # "Friday week", decades in words, most of a period
    ("My lease expires Friday week.", [("Friday week", "2024-05-24", "2024-05-25", "at", "day")]),
    ("I studied in Turin in the late nineties.",
     [("in the late nineties", "1996-01-01", "2000-01-01", "at", "decade")]),
    ("She lived with us for most of 2022.", [("for most of 2022", "2022-01-01", "2023-01-01", "during", "year")]),
    # days
    ("I saw Nora yesterday.", [("yesterday", "2024-05-14", "2024-05-15", "at", "day")]),
    ("Today I start a diet.", [("Today", "2024-05-15", "2024-05-16", "at", "day")]),
    ("We'll paint the fence the day after tomorrow.",
     [("the day after tomorrow", "2024-05-17", "2024-05-18", "at", "day")]),
    ("He was ill the day before yesterday, not yesterday.",
     [("the day before yesterday", "2024-05-13", "2024-05-14", "at", "day"),
      ("yesterday", "2024-05-14", "2024-05-15", "at", "day")]),
    # parts of a day
    ("I missed the bus this morning.", [("this morning", "2024-05-15", "2024-05-15T12:00", "at", "day part")]),
    ("They fixed the roof yesterday afternoon.",
     [("yesterday afternoon", "2024-05-14T12:00", "2024-05-14T18:00", "at", "day part")]),
    ("I moved here a few years ago.", [("a few years ago", "2018-05-15", "2022-05-16", "at", "year")]),
    ("I saw her several weeks ago.", [("several weeks ago", "2024-04-03", "2024-05-02", "at", "week")]),
    ("I went out a few minutes ago.", []),
    ("Our cat ran away last night.", [("last night", "2024-05-14T17:00", "2024-05-15", "at", "day part")]),
    ("We're having guests tonight.", [("tonight", "2024-05-15T17:00", "2024-05-16", "at", "day part")]),
    ("She called on Sunday evening.", [("on Sunday evening", "2024-05-12T17:00", "2024-05-13", "at", "day part")]),
    # weekdays, by the tense
    ("I sold the boat on Monday.", [("on Monday", "2024-05-13", "2024-05-14", "at", "day")]),
    ("I'm selling the boat on Monday.", [("on Monday", "2024-05-20", "2024-05-21", "at", "day")]),
    ("On Friday we went to a wedding.", [("On Friday", "2024-05-10", "2024-05-11", "at", "day")]),
    ("On Friday we will go to a wedding.", [("On Friday", "2024-05-17", "2024-05-18", "at", "day")]),
    ("I met Lou on Wednesday.", [("on Wednesday", "2024-05-08", "2024-05-09", "at", "day")]),
    ("He's going to call on Wednesday.", [("on Wednesday", "2024-05-22", "2024-05-23", "at", "day")]),
    ("I've got an appointment on Monday.", [("on Monday", "2024-05-20", "2024-05-21", "at", "day")]),
    ("I have to work on Saturday.", [("on Saturday", "2024-05-18", "2024-05-19", "at", "day")]),
    ("We have painted the hall on Sunday.", [("on Sunday", "2024-05-12", "2024-05-13", "at", "day")]),
    ("The plumber comes this Friday.", [("this Friday", "2024-05-17", "2024-05-18", "at", "day")]),
    ("Next Monday is my first day there.", [("Next Monday", "2024-05-20", "2024-05-21", "at", "day")]),
    ("This past Monday I had an MRI.", [("This past Monday", "2024-05-13", "2024-05-14", "at", "day")]),
    ("The party is this coming Saturday.", [("this coming Saturday", "2024-05-18", "2024-05-19", "at", "day")]),
    ("See you Friday.", [("Friday", "2024-05-17", "2024-05-18", "at", "day")]),
    ("I had a bad fall on Tuesday, but I'm flying home on Saturday.",
     [("on Tuesday", "2024-05-14", "2024-05-15", "at", "day"),
      ("on Saturday", "2024-05-18", "2024-05-19", "at", "day")]),
    # weekends, weeks, months, years
    ("We're camping this weekend.", [("this weekend", "2024-05-18", "2024-05-20", "at", "day")]),
    ("We went camping last weekend.", [("last weekend", "2024-05-11", "2024-05-13", "at", "day")]),
    ("We went camping over the weekend.", [("over the weekend", "2024-05-11", "2024-05-13", "at", "day")]),
    ("The course begins next week.", [("next week", "2024-05-20", "2024-05-27", "at", "week")]),
    ("I finished school this year.", [("this year", "2024-01-01", "2025-01-01", "at", "year")]),
    ("We'll marry next year.", [("next year", "2025-01-01", "2026-01-01", "at", "year")]),
    ("I left the band the year before last.", [("the year before last", "2022-01-01", "2023-01-01", "at", "year")]),
    ("The baby is due the month after next.", [("the month after next", "2024-07-01", "2024-08-01", "at", "month")]),
    # distances
    ("I had the flu ten days ago.", [("ten days ago", "2024-05-05", "2024-05-06", "at", "day")]),
    ("I gave up smoking a couple of years ago.",
     [("a couple of years ago", "2022-05-15", "2022-05-16", "at", "year")]),
    ("We met about twenty-five years ago.",
     [("about twenty-five years ago", "1999-05-15", "1999-05-16", "at", "year")]),
    ("She left half a year ago.", [("half a year ago", "2023-11-15", "2023-11-16", "at", "month")]),
    ("He retired a year and a half ago.", [("a year and a half ago", "2022-11-15", "2022-11-16", "at", "month")]),
    ("The train leaves in ten minutes.", [("in ten minutes", "2024-05-15T10:10", "2024-05-15T10:11", "at", "minute")]),
    ("I ate two hours ago.", [("two hours ago", "2024-05-15T08:00", "2024-05-15T09:00", "at", "hour")]),
    ("The sale starts three weeks from now.", [("three weeks from now", "2024-06-05", "2024-06-06", "at", "week")]),
    ("In 3 months I'll be a father.", [("In 3 months", "2024-08-15", "2024-08-16", "at", "month")]),
    # months, seasons, feasts
    ("I adopted Bruno in January.", [("in January", "2024-01-01", "2024-02-01", "at", "month")]),
    ("I adopted Bruno in October.", [("in October", "2023-10-01", "2023-11-01", "at", "month")]),
    ("We're moving in October.", [("in October", "2024-10-01", "2024-11-01", "at", "month")]),
    ("I've been there twice in May.", [("in May", "2024-05-01", "2024-06-01", "at", "month")]),
    ("i moved here in march", [("in march", "2024-03-01", "2024-04-01", "at", "month")]),
    ("The roof was done in early March 2021.", [("in early March 2021", "2021-03-01", "2021-03-11", "at", "month")]),
    ("We bought the flat last December.", [("last December", "2023-12-01", "2024-01-01", "at", "month")]),
    ("I'm hiking in the Alps in the summer.", [("in the summer", "2024-06-01", "2024-09-01", "at", "season")]),
    ("We toured Japan last summer.", [("last summer", "2023-06-01", "2023-09-01", "at", "season")]),
    ("I broke my leg last winter.", [("last winter", "2023-12-01", "2024-03-01", "at", "season")]),
    ("He proposed in the spring of 2019.", [("in the spring of 2019", "2019-03-01", "2019-06-01", "at", "season")]),
    ("We got engaged at Christmas.", [("at Christmas", "2023-12-25", "2023-12-26", "at", "day")]),
    ("My parents are coming at Easter.", [("at Easter", "2025-04-20", "2025-04-21", "at", "day")]),
    ("He fell off the roof on Christmas Eve 2020.",
     [("on Christmas Eve 2020", "2020-12-24", "2020-12-25", "at", "day")]),
    ("I've worn glasses since New Year's Eve.", [("since New Year's Eve", "2023-12-31", "", "since", "day")]),
    # dates
    ("She was born on 5 May 2020.", [("on 5 May 2020", "2020-05-05", "2020-05-06", "at", "day")]),
    ("The move was on March 3rd, 2022.", [("on March 3rd, 2022", "2022-03-03", "2022-03-04", "at", "day")]),
    ("We signed on the 3rd of April.", [("on the 3rd of April", "2024-04-03", "2024-04-04", "at", "day")]),
    ("The exam is on June 7.", [("on June 7", "2024-06-07", "2024-06-08", "at", "day")]),
    ("I applied on 2024-02-29.", [("on 2024-02-29", "2024-02-29", "2024-03-01", "at", "day")]),
    ("I paid on the 20th.", [("on the 20th", "2024-04-20", "2024-04-21", "at", "day")]),
    ("I arrived on 3/4/2024.", [("on 3/4/2024", "2024-01-01", "2025-01-01", "at", "year")]),
    ("I arrived on 25/11/2020.", [("on 25/11/2020", "2020-11-25", "2020-11-26", "at", "day")]),
    ("I arrived on 11/25/2020.", [("on 11/25/2020", "2020-11-25", "2020-11-26", "at", "day")]),
    ("I arrived on 4/4/2024.", [("on 4/4/2024", "2024-04-04", "2024-04-05", "at", "day")]),
    ("I got my visa in December 2019.", [("in December 2019", "2019-12-01", "2020-01-01", "at", "month")]),
    ("In the 1990s I played chess.", [("In the 1990s", "1990-01-01", "2000-01-01", "at", "decade")]),
    ("My last leap birthday was on February 29.", [("on February 29", "2024-02-29", "2024-03-01", "at", "day")]),
    # quarters, decades, thirds, ordinals, seasons and feasts counted back
    ("As of next quarter I report to the board.", [("As of next quarter", "2024-07-01", "", "since", "quarter")]),
    ("We launched in Q1 2023.", [("in Q1 2023", "2023-01-01", "2023-04-01", "at", "quarter")]),
    ("I learnt it a decade ago.", [("a decade ago", "2014-05-15", "2014-05-16", "at", "decade")]),
    ("He lived there in the late 90s.", [("in the late 90s", "1996-01-01", "2000-01-01", "at", "decade")]),
    ("I joined in '98.", [("in '98", "1998-01-01", "1999-01-01", "at", "year")]),
    ("The test is in a fortnight.", [("in a fortnight", "2024-05-29", "2024-05-30", "at", "week")]),
    ("I've been here since mid-2021.", [("since mid-2021", "2021-05-01", "", "since", "year")]),
    ("I've been here since the end of March.", [("since the end of March", "2024-03-31", "", "since", "month")]),
    ("We hiked in Corsica two summers ago.", [("two summers ago", "2022-06-01", "2022-09-01", "at", "season")]),
    ("I met Lou two Fridays ago.", [("two Fridays ago", "2024-05-03", "2024-05-04", "at", "day")]),
    ("The fair is on the first of June.", [("on the first of June", "2024-06-01", "2024-06-02", "at", "day")]),
    ("The fair is on the first Monday of June.",
     [("on the first Monday of June", "2024-06-03", "2024-06-04", "at", "day")]),
    ("The sale is on Black Friday.", [("on Black Friday", "2024-11-29", "2024-11-30", "at", "day")]),
    ("We left the day after Christmas.", [("the day after Christmas", "2023-12-26", "2023-12-27", "at", "day")]),
    # parts of weeks and spans from now
    ("I saw Lou on Tuesday last week.", [("on Tuesday last week", "2024-05-07", "2024-05-08", "at", "day")]),
    ("I met her last week on Tuesday.", [("last week on Tuesday", "2024-05-07", "2024-05-08", "at", "day")]),
    ("I have surgery a week from Friday.", [("a week from Friday", "2024-05-24", "2024-05-25", "at", "day")]),
    ("I'm in Bern for the next three weeks.",
     [("for the next three weeks", "2024-05-15T10:00", "2024-06-06", "during", "week")]),
    ("I'm away for two weeks from Monday.",
     [("for two weeks from Monday", "2024-05-20", "2024-06-03", "during", "week")]),
    ("I joined a gym earlier this year.", [("earlier this year", "2024-01-01", "2024-05-15T10:00", "at", "year")]),
    ("I'm getting a boat later this month.", [("later this month", "2024-05-15T10:00", "2024-06-01", "at", "month")]),
    ("He was in Oslo from 1998 through 2006.",
     [("from 1998 through 2006", "1998-01-01", "2007-01-01", "during", "year")]),
    ("We're closed from 24 to 26 December.", [("from 24 to 26 December", "2024-12-24", "2024-12-27", "during", "day")]),
    ("Come September I'm a student.", [("Come September", "2024-09-01", "", "since", "month")]),
    ("The exam is Tuesday at 9:30.", [("Tuesday at 9:30", "2024-05-21", "2024-05-22", "at", "day")]),
    # with a time of day
    ("The call is tomorrow at 5:30 pm.",
     [("tomorrow at 5:30 pm", "2024-05-16T17:30", "2024-05-16T17:31", "at", "minute")]),
    ("The call is tomorrow at 5:30.", [("tomorrow at 5:30", "2024-05-16", "2024-05-17", "at", "day")]),
    ("We land on Saturday at 17:05.",
     [("on Saturday at 17:05", "2024-05-18T17:05", "2024-05-18T17:06", "at", "minute")]),
    # since, from, until, by, before, after
    ("I've been a vegan since last autumn.", [("since last autumn", "2023-09-01", "", "since", "season")]),
    ("I have worked here since Monday.", [("since Monday", "2024-05-13", "", "since", "day")]),
    ("She's had asthma since June 2011.", [("since June 2011", "2011-06-01", "", "since", "month")]),
    ("I've lived alone since two years ago.", [("since two years ago", "2022-05-15", "", "since", "year")]),
    ("Starting tomorrow I run every day.", [("Starting tomorrow", "2024-05-16", "", "since", "day"),
                                            ("every day", "", "", "recurring", "day")]),
    ("As of September I'm a student.", [("As of September", "2024-09-01", "", "since", "month")]),
    ("I'm on leave from Monday on.", [("from Monday on", "2024-05-20", "", "since", "day")]),
    ("I rented it until the end of March.", [("until the end of March", "", "2024-04-01", "until", "month")]),
    ("I'm in Rome till Friday.", [("till Friday", "", "2024-05-18", "until", "day")]),
    ("I worked there until 2014.", [("until 2014", "", "2015-01-01", "until", "year")]),
    ("I'm not allowed to drive until October.", [("until October", "", "2024-10-01", "until", "month")]),
    ("The essay is due by Friday.", [("by Friday", "", "2024-05-18", "by", "day")]),
    ("I must be out by the end of the month.", [("by the end of the month", "", "2024-06-01", "by", "month")]),
    ("I smoked before 2010.", [("before 2010", "", "2010-01-01", "before", "year")]),
    ("After Easter I'll have a dog.", [("After Easter", "2025-04-21", "", "after", "day")]),
    # stretches
    ("I studied in Graz from 2010 to 2014.", [("from 2010 to 2014", "2010-01-01", "2015-01-01", "during", "year")]),
    ("I ran a bar from March 2015 until May 2018.",
     [("from March 2015 until May 2018", "2015-03-01", "2018-06-01", "during", "month")]),
    ("He was in jail between 1999 and 2003.",
     [("between 1999 and 2003", "1999-01-01", "2004-01-01", "during", "year")]),
    ("I was in Oslo from November to February 2020.",
     [("from November to February 2020", "2019-11-01", "2020-03-01", "during", "month")]),
    ("I was in hospital from Monday to Wednesday.",
     [("from Monday to Wednesday", "2024-05-06", "2024-05-09", "during", "day")]),
    ("The fair is on May 18-20.", [("on May 18-20", "2024-05-18", "2024-05-21", "during", "day")]),
    ("The fair was 3–7 May 2023.", [("3–7 May 2023", "2023-05-03", "2023-05-08", "during", "day")]),
    ("It rained throughout April.", [("throughout April", "2024-04-01", "2024-05-01", "during", "month")]),
    ("I was abroad all summer.", [("all summer", "2023-06-01", "2023-09-01", "during", "season")]),
    ("I've known him for ten years.", [("for ten years", "2014-05-15", "", "duration", "year")]),
    ("We've been friends for the past three months.",
     [("for the past three months", "2024-02-15", "", "duration", "month")]),
    ("I lived there for ten years.", [("for ten years", "", "", "duration", "year")]),
    ("I'm staying for two weeks.", [("for two weeks", "", "", "duration", "week")]),
    ("I've worked at a bakery for the last 5 years.", [("for the last 5 years", "2019-05-15", "", "duration", "year")]),
    ("I've worked at a bakery for over ten years.", [("for over ten years", "", "", "duration", "year")]),
    # a year after the month, the same day of another year, nights, plans that were moved
    ("I moved in March last year.", [("in March last year", "2023-03-01", "2023-04-01", "at", "month")]),
    ("We marry in June of next year.", [("in June of next year", "2025-06-01", "2025-07-01", "at", "month")]),
    ("I met her a year ago today.", [("a year ago today", "2023-05-15", "2023-05-16", "at", "day")]),
    ("I'm away from 21.05.2024 to 11.06.2024.",
     [("from 21.05.2024 to 11.06.2024", "2024-05-21", "2024-06-12", "during", "day")]),
    ("I live on 14th of October Street.", []),
    ("We got back two nights ago.", [("two nights ago", "2024-05-13", "2024-05-14", "at", "day")]),
    ("I saw it the night before last.",
     [("the night before last", "2024-05-13T17:00", "2024-05-14", "at", "day part")]),
    ("I moved at the end of last year.", [("at the end of last year", "2023-12-01", "2024-01-01", "at", "year")]),
    ("I start on the 1st of next month.", [("on the 1st of next month", "2024-06-01", "2024-06-02", "at", "day")]),
    ("The wedding has been moved to 5 July.", [("5 July", "2024-07-05", "2024-07-06", "at", "day")]),
    ("The call is moved from tomorrow to Friday.",
     [("from tomorrow to Friday", "2024-05-17", "2024-05-18", "at", "day")]),
    ("I'll come over tomorrow.", [("tomorrow", "2024-05-16", "2024-05-17", "at", "day")]),
    ("I met him last Fri at the gym.", [("last Fri", "2024-05-10", "2024-05-11", "at", "day")]),
    ("Phase two is from 21 April 2023 to 15 May.",
     [("from 21 April 2023 to 15 May", "2023-04-21", "2023-05-16", "during", "day")]),
    ("November 16 - December 15, 2023: the design",
     [("November 16 - December 15, 2023", "2023-11-16", "2023-12-16", "during", "day")]),
    ("We plan a night in this weekend.", [("this weekend", "2024-05-18", "2024-05-20", "at", "day")]),
    # what recurs
    ("I swim every Saturday.", [("every Saturday", "", "", "recurring", "day")]),
    ("I swim on Saturdays.", [("on Saturdays", "", "", "recurring", "day")]),
    ("I see my mother twice a week.", [("twice a week", "", "", "recurring", "week")]),
    ("I work from Monday to Friday.", [("from Monday to Friday", "", "", "recurring", "day")]),
    ("My birthday is on June 14.", [("on June 14", "", "", "recurring", "day")]),
    ("We usually ski in February.", [("in February", "", "", "recurring", "month")]),
]  # fmt: skip

NOTHING = [
    "I have lived here since I was twelve.",
    "I moved here recently.",
    "I moved here a while ago.",
    "I moved here a long time ago.",
    "I quit more than two years ago.",
    "The other day I met Pam.",
    "My office is room 2019.",
    "I drive the 2008 model.",
    "I drive a Volvo from 2010.",
    "It has 2024 pages.",
    "I wrote it in 2000 words.",
    "She lives at 2008 Hill Road.",
    "I may come.",
    "This may be true.",
    "May I ask something?",
    "They march through the town.",
    "June works at the bank.",
    "I got a letter from June.",
    "Wait a second.",
    "I'll be back in a second.",
    "She came second.",
    "I get up at 5:30.",
    "My flat is on the 20th floor.",
    "The 20th century was long.",
    "I like the Sunday Times.",
    "I love Friday.",
    "Yesterday's match was dull.",
    "Last year's winner is my cousin.",
    "It happened two weeks later.",
    "My favourite song is Yesterday.",
    "My band is called Last Friday.",
    "My favourite film is The Day After Tomorrow.",
    "I saw it a week ago Tuesday.",
    "I've had it since before Christmas.",
    "I met Lou the previous Friday.",
    "She was there in her twenties.",
    "He died two days before his birthday.",
    "The next day he left.",
    "The following Monday he left.",
    "That summer we had no money.",
    "He came last.",
    "My last name is Winter.",
    "Next door there is a pub.",
    "We saw it for the first time in two years.",
    "I wrote the book in two years.",
    "I run ten kilometres in 50 minutes.",
    "I was born in 12345.",
    "The code is 2024-13-45.",
    "It starts on 31 February 2024.",
    "It costs 1990.",
    "In my twenties I drank a lot.",
    "Call me at 555 2014.",
    "Nice to meet you!",
    "I was going to leave on Monday.",
    "I live on Easter Island.",
    "My sat nav broke in the sun.",
    "The meeting was moved from Monday to Wednesday.",
    "I would move in June.",
    "Choosing the talk on May 20 was right.",
    "I'm proud of my grade on May 10.",
    "The year is datetime.date.today().year.",
    "I haven't read it in years.",
    "Autumn is the name of my cat.",
    "My aunt is in her early nineties.",
    "Most of my friends live in Turin.",
    "I read the Friday week after week.",
    "",
    " ",
]


@pytest.mark.parametrize(("sentence", "expected"), ENGLISH, ids=[sentence for sentence, _ in ENGLISH])
def test_english(sentence: str, expected: list[tuple[str, str, str, str, str]]) -> None:
    assert found(sentence) == expected


@pytest.mark.parametrize("sentence", NOTHING)
def test_no_time_is_invented(sentence: str) -> None:
    assert found(sentence) == []


@pytest.mark.parametrize(
    ("at", "sentence", "text", "begin", "end"),
    [
        ("2024-02-29T08:00", "I left a year ago.", "a year ago", "2023-02-28", "2023-03-01"),
        ("2024-02-29T08:00", "I leave in four years.", "in four years", "2028-02-29", "2028-03-01"),
        ("2023-03-01T08:00", "I quit yesterday.", "yesterday", "2023-02-28", "2023-03-01"),
        ("2024-03-01T08:00", "I quit yesterday.", "yesterday", "2024-02-29", "2024-03-01"),
        ("2024-03-31T12:00", "It ended a month ago.", "a month ago", "2024-02-29", "2024-03-01"),
        ("2024-12-31T23:59", "I start tomorrow.", "tomorrow", "2025-01-01", "2025-01-02"),
        ("2025-01-01T00:00", "We danced last night.", "last night", "2024-12-31T17:00", "2025-01-01"),
        ("2025-01-01T00:00", "I moved last month.", "last month", "2024-12-01", "2025-01-01"),
        ("2025-01-01T00:00", "I moved last year.", "last year", "2024-01-01", "2025-01-01"),
        ("2025-01-01T00:00", "I moved last week.", "last week", "2024-12-23", "2024-12-30"),
        ("2024-12-30T10:00", "I'll move next week.", "next week", "2025-01-06", "2025-01-13"),
        ("2024-12-20T10:00", "I'll move in January.", "in January", "2025-01-01", "2025-02-01"),
        ("2025-01-05T10:00", "I moved in December.", "in December", "2024-12-01", "2025-01-01"),
        ("2024-05-19T20:00", "We hiked this weekend.", "this weekend", "2024-05-18", "2024-05-20"),
        ("2024-05-20T08:00", "We hiked this weekend.", "this weekend", "2024-05-18", "2024-05-20"),
        ("2024-01-10T10:00", "I fell ill this winter.", "this winter", "2023-12-01", "2024-03-01"),
        ("2024-01-10T10:00", "We met last winter.", "last winter", "2022-12-01", "2023-03-01"),
        ("2023-06-01T10:00", "The leap party is on 29 February.", "on 29 February", "2024-02-29", "2024-03-01"),
        ("2024-05-31T10:00", "I paid on the 31st.", "on the 31st", "2024-05-31", "2024-06-01"),
        ("2024-05-15T10:00", "I pay on the 31st.", "on the 31st", "2024-05-31", "2024-06-01"),
        ("2024-06-15T10:00", "I pay on the 31st.", "on the 31st", "2024-07-31", "2024-08-01"),
        ("2024-04-10T10:00", "We married at Easter.", "at Easter", "2024-03-31", "2024-04-01"),
        ("1975-03-20T10:00", "We married last week.", "last week", "1975-03-10", "1975-03-17"),
    ],
)
def test_edges_of_the_calendar(at: str, sentence: str, text: str, begin: str, end: str) -> None:
    assert [expression[:3] for expression in found(sentence, at)] == [(text, begin, end)]


GERMAN = [
    ("Ich bin gestern nach Lyon gezogen.", "gestern", "2024-05-14", "2024-05-15", "at"),
    ("Vorgestern war ich krank.", "Vorgestern", "2024-05-13", "2024-05-14", "at"),
    ("Ich wohne seit März in Gent.", "seit März", "2024-03-01", "", "since"),
    ("Seit 2019 bin ich Veganer.", "Seit 2019", "2019-01-01", "", "since"),
    ("Ich arbeite seit zwei Jahren bei Philips.", "seit zwei Jahren", "2022-05-15", "", "since"),
    ("Wir haben vor drei Jahren geheiratet.", "vor drei Jahren", "2021-05-15", "2021-05-16", "at"),
    ("Am Montag habe ich angefangen.", "Am Montag", "2024-05-13", "2024-05-14", "at"),
    ("Am Montag fange ich an.", "Am Montag", "2024-05-20", "2024-05-21", "at"),
    ("Letzten Freitag kam die Katze.", "Letzten Freitag", "2024-05-10", "2024-05-11", "at"),
    ("Nächste Woche bin ich in Prag.", "Nächste Woche", "2024-05-20", "2024-05-27", "at"),
    ("Ab Juni arbeite ich bei Airbus.", "Ab Juni", "2024-06-01", "", "since"),
    ("Ich war von 2010 bis 2014 in Oslo.", "von 2010 bis 2014", "2010-01-01", "2015-01-01", "during"),
    ("Der Laden ist bis Sonntag geschlossen.", "bis Sonntag", "", "2024-05-20", "until"),
    ("Im Jahr 2008 wohnte ich in Boston.", "Im Jahr 2008", "2008-01-01", "2009-01-01", "at"),
    ("Die Prüfung ist in zwei Wochen.", "in zwei Wochen", "2024-05-29", "2024-05-30", "at"),
    ("Das Konzert ist am 3. Juni.", "am 3. Juni", "2024-06-03", "2024-06-04", "at"),
    ("Sie kam am 03.04.2024 an.", "am 03.04.2024", "2024-04-03", "2024-04-04", "at"),
    ("Heute Abend bin ich in der Oper.", "Heute Abend", "2024-05-15T17:00", "2024-05-16", "at"),
    ("Ich schwimme jeden Samstag.", "jeden Samstag", "", "", "recurring"),
    ("Letzten Sommer waren wir auf Korfu.", "Letzten Sommer", "2023-06-01", "2023-09-01", "at"),
    ("Wir haben uns an Weihnachten verlobt.", "an Weihnachten", "2023-12-25", "2023-12-26", "at"),
]
FRENCH = [
    ("J'ai déménagé à Lyon hier.", "hier", "2024-05-14", "2024-05-15", "at"),
    ("Avant-hier j'étais malade.", "Avant-hier", "2024-05-13", "2024-05-14", "at"),
    ("J'habite à Gand depuis mars.", "depuis mars", "2024-03-01", "", "since"),
    ("Je travaille ici depuis deux ans.", "depuis deux ans", "2022-05-15", "", "since"),
    ("J'ai acheté un vélo il y a quelques mois.", "il y a quelques mois", "2023-11-15", "2024-03-16", "at"),
    ("Nous nous sommes mariés il y a trois ans.", "il y a trois ans", "2021-05-15", "2021-05-16", "at"),
    ("Vendredi dernier, j'ai adopté un chat.", "Vendredi dernier", "2024-05-10", "2024-05-11", "at"),
    ("La semaine prochaine je suis à Prague.", "La semaine prochaine", "2024-05-20", "2024-05-27", "at"),
    ("À partir de juin, je travaille chez Airbus.", "À partir de juin", "2024-06-01", "", "since"),
    ("J'ai vécu à Oslo de 2010 à 2014.", "de 2010 à 2014", "2010-01-01", "2015-01-01", "during"),
    ("Le magasin est fermé jusqu'à dimanche.", "jusqu'à dimanche", "", "2024-05-20", "until"),
    ("En 2008, j'habitais à Boston.", "En 2008", "2008-01-01", "2009-01-01", "at"),
    ("L'examen est dans deux semaines.", "dans deux semaines", "2024-05-29", "2024-05-30", "at"),
    ("Le concert est le 3 juin.", "le 3 juin", "2024-06-03", "2024-06-04", "at"),
    ("J'ai vendu ma voiture le mois dernier.", "le mois dernier", "2024-04-01", "2024-05-01", "at"),
    ("Je nage tous les samedis.", "tous les samedis", "", "", "recurring"),
    ("L'été dernier, nous étions à Corfou.", "L'été dernier", "2023-06-01", "2023-09-01", "at"),
    ("Il y a deux ans que j'habite ici.", "Il y a deux ans que", "2022-05-15", "", "since"),
]
SPANISH = [
    ("Ayer me mudé a Lyon.", "Ayer", "2024-05-14", "2024-05-15", "at"),
    ("Anteayer estuve enfermo.", "Anteayer", "2024-05-13", "2024-05-14", "at"),
    ("Vivo en Gante desde marzo.", "desde marzo", "2024-03-01", "", "since"),
    ("Compré una bici hace unas semanas.", "hace unas semanas", "2024-04-03", "2024-05-02", "at"),
    ("Trabajo aquí desde hace dos años.", "desde hace dos años", "2022-05-15", "", "since"),
    ("Nos casamos hace tres años.", "hace tres años", "2021-05-15", "2021-05-16", "at"),
    ("El viernes pasado adopté un gato.", "El viernes pasado", "2024-05-10", "2024-05-11", "at"),
    ("La próxima semana estoy en Praga.", "La próxima semana", "2024-05-20", "2024-05-27", "at"),
    ("A partir de junio trabajo en Airbus.", "A partir de junio", "2024-06-01", "", "since"),
    ("Viví en Oslo de 2010 a 2014.", "de 2010 a 2014", "2010-01-01", "2015-01-01", "during"),
    ("La tienda está cerrada hasta el domingo.", "hasta el domingo", "", "2024-05-20", "until"),
    ("En 2008 vivía en Boston.", "En 2008", "2008-01-01", "2009-01-01", "at"),
    ("El examen es dentro de dos semanas.", "dentro de dos semanas", "2024-05-29", "2024-05-30", "at"),
    ("El concierto es el 3 de junio.", "el 3 de junio", "2024-06-03", "2024-06-04", "at"),
    ("Vendí mi coche el mes pasado.", "el mes pasado", "2024-04-01", "2024-05-01", "at"),
    ("Nado todos los sábados.", "todos los sábados", "", "", "recurring"),
    ("Hace dos años que vivo aquí.", "Hace dos años que", "2022-05-15", "", "since"),
]
OTHER_LANGUAGES = [(language, *row) for language, rows in
                   (("de", GERMAN), ("fr", FRENCH), ("es", SPANISH)) for row in rows]  # fmt: skip


@pytest.mark.parametrize(("language", "sentence", "text", "begin", "end", "role"), OTHER_LANGUAGES)
def test_other_languages(language: str, sentence: str, text: str, begin: str, end: str, role: str) -> None:
    assert [expression[:4] for expression in found(sentence, language=language)] == [(text, begin, end, role)]


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("de", "Ich stehe vor drei Häusern."),
        ("de", "Neulich war ich dort."),
        ("de", "Ich wohne in Zimmer 2019."),
        ("fr", "Il y a deux chats ici."),
        ("fr", "Je pars de Mars."),
        ("fr", "Récemment, j'ai déménagé."),
        ("es", "Hace frío."),
        ("es", "Hace dos tartas."),
        ("es", "Últimamente leo mucho."),
    ],
)
def test_other_languages_invent_no_time(language: str, sentence: str) -> None:
    assert found(sentence, language=language) == []


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(InputError, match="de, en, es, fr"):
        time_expressions("yesterday", 1.7e9, language="xx")


@pytest.mark.parametrize("at", [0.0, 17.0, -3.0, 9.9e7, math.nan, math.inf, 1e15, -1e15])
def test_turns_and_times_outside_the_calendar_resolve_nothing(at: float) -> None:
    assert time_expressions("I moved yesterday, in 2008 and three years ago.", at) == []


@pytest.mark.parametrize("sentence", ["I left 9999 years ago.", "I leave in 9999 years.", "I left on 1/1/0000."])
def test_times_beyond_the_calendar_are_left_out(sentence: str) -> None:
    assert found(sentence) == []


def test_the_caller_may_say_the_tense() -> None:
    """A parser knows the tense better than a list of verbs."""
    at = seconds(WEDNESDAY)
    [past] = time_expressions("Dentist on Monday.", at, is_past=True)
    [coming] = time_expressions("Dentist on Monday.", at, is_past=False)
    assert (shown(past.valid_from), shown(coming.valid_from)) == ("2024-05-13", "2024-05-20")
    assert time_expressions("Dentist on Monday.", at) == []


VALIDITY = [
    # sentence, is_past, is_event, valid from, valid to, begins by
    ("I moved to Lyon yesterday.", True, True, "2024-05-14", "", "2024-05-15"),
    ("I've lived in Ghent since March.", False, False, "2024-03-01", "", "2024-04-01"),
    ("I've been at Philips for two years.", False, False, "2022-05-15", "", "2023-01-01"),
    ("I was at Philips for two years.", True, False, "", "", ""),
    ("From June I work for Airbus.", False, False, "2024-06-01", "", "2024-07-01"),
    ("I worked at Opel until last month.", True, False, "", "2024-05-01", ""),
    ("In 2008 I lived in Boston.", True, False, "2008-01-01", "2009-01-01", ""),
    ("The concert is tomorrow.", False, True, "2024-05-16", "2024-05-17", ""),
    ("I was in Prague last week.", True, False, "2024-05-06", "2024-05-13", ""),
    ("The shop is closed until Sunday.", False, False, "2024-05-15T10:00", "2024-05-20", ""),
    ("I must hand it in by Friday.", False, False, "2024-05-15T10:00", "2024-05-18", ""),
    ("I smoked before 2010.", True, False, "", "2010-01-01", ""),
    ("I quit before 2010.", True, True, "", "", ""),
    ("I married after 2010.", True, True, "", "", ""),
    ("After Easter I have a dog.", False, False, "2025-04-21", "", ""),
    ("I lived in Oslo from 2010 to 2014.", True, False, "2010-01-01", "2015-01-01", ""),
    ("I swim every Saturday.", False, False, "", "", ""),
    ("I wanted to move next week.", True, False, "", "", ""),
    ("I moved here this week.", True, True, "2024-05-13", "", "2024-05-16"),
    ("I moved here last week.", True, True, "2024-05-06", "", "2024-05-13"),
    ("I moved here three years ago.", True, True, "2021-05-15", "", "2022-01-01"),
    ("I've lived in Ghent since Monday.", False, False, "2024-05-13", "", ""),
    ("I'm selling it, but not before June.", False, False, "2024-06-01", "", "2024-07-01"),
    ("I'm on leave from 6 June for two weeks.", False, False, "2024-06-06", "2024-06-20", ""),
    ("I've lost three kilos since March.", True, True, "2024-03-01", "", ""),
    ("The exam is on the 15th.", False, False, "2024-06-15", "2024-06-16", ""),
    ("We're in Rome for Christmas.", False, False, "2024-12-25", "2024-12-26", ""),
    ("I'm baking a cake for Christmas.", False, False, "", "", ""),
    ("I like tea.", False, False, "", "", ""),
    ("I was in Prague last week until Friday.", True, False, "2024-05-06", "2024-05-11", ""),
    ("I was in Prague in 2008 and in 2010.", True, False, "", "", ""),
]


@pytest.mark.parametrize(("sentence", "is_past", "is_event", "begin", "end", "latest"), VALIDITY)
def test_validity(sentence: str, is_past: bool, is_event: bool, begin: str, end: str, latest: str) -> None:
    at = seconds(WEDNESDAY)
    bounds = validity(time_expressions(sentence, at), at, is_past=is_past, is_event=is_event)
    assert tuple(shown(bound) for bound in bounds) == (begin, end, latest)


PAST = {"moved", "started", "adopted", "got", "worked", "lived", "was", "broke", "bought", "turned", "quit", "spent"}
OPENS = {"moved", "started", "adopted", "got", "broke", "bought", "turned"}


@pytest.mark.parametrize("row", tomllib.loads(DEVELOPMENT.read_text(encoding="utf-8"))["dates"], ids=lambda row: row[1])
def test_the_development_half_of_the_dates(row: list[str]) -> None:
    time, sentence, _, begin, end = row
    at = seconds(time)
    words = set(sentence.lower().rstrip(".").split())
    is_past, is_event = bool(words & PAST), bool(words & OPENS)
    valid_from, valid_to, _ = validity(time_expressions(sentence, at), at, is_past=is_past, is_event=is_event)
    if "quit" in words:  # what it ends ends when it began
        valid_from, valid_to = None, valid_from
    assert_bound(valid_from, begin, at, 0)
    assert_bound(valid_to, end, at, 0 if "quit" in words else DAY)


def assert_bound(bound: float | None, expected: str, at: float, added: float) -> None:
    if not expected:
        assert bound is None
    elif expected.startswith("~"):
        day = seconds(expected[1:])
        assert bound is not None
        assert day <= bound <= at
    else:
        assert bound == seconds(expected) + added


def test_offsets_are_those_of_the_sentence() -> None:
    sentence = "😀  I moved\u00a0there  last  Friday."
    [expression] = time_expressions(sentence, seconds(WEDNESDAY))
    assert sentence[expression.start : expression.end] == "last  Friday"


def test_expressions_are_in_order_and_do_not_overlap() -> None:
    sentence = "From 2010 to 2014 I lived in Oslo, in May 2015 I moved, and I've been here since last summer each day."
    expressions = time_expressions(sentence, seconds(WEDNESDAY))
    assert [e.role for e in expressions] == ["during", "at", "since", "recurring"]
    assert all(a.end <= b.start for a, b in pairwise(expressions))
    assert all(isinstance(e, TimeExpression) for e in expressions)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "in " * 20_000, "since last " * 8_000, "from 2010 to " * 8_000, " " * 60_000 + "ago", "1" * 60_000 + " ago",
        "a couple of " * 6_000, "on Monday " * 5_000, "the day before " * 5_000, "twenty-" * 10_000, "I was " * 10_000,
        "in" + " " * 60_000 + "May", "two years and a half " * 3_000, "yesterday," * 5_000, "ed " * 20_000,
    ],
    ids=lambda text: text[:20],
)  # fmt: skip
def test_hostile_texts_take_linear_work(text: str) -> None:
    """Quadratic work on these texts would take minutes: the test would not end."""
    for language in ("en", "de", "fr", "es"):
        for expression in time_expressions(text, seconds(WEDNESDAY), language=language):
            assert 0 <= expression.start < expression.end <= len(text)
