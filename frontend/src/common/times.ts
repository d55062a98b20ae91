// World times for people, as the commands show them.

const TURNS = 1e8; // numbers nearer to zero are turns, not seconds since 1970

/** Whether a world time is a date, not a turn. */
export const isDate = (at: number): boolean => Math.abs(at) >= TURNS;

/** A turn as a number, a time as a date and the time of day in UTC, as far as it has one. */
export function shownTime(at: number): string {
  if (Math.abs(at) >= TURNS) {
    const moment = new Date(Math.round(at) * 1000);
    if (!Number.isNaN(moment.getTime()) && moment.getUTCFullYear() >= 1 && moment.getUTCFullYear() <= 9999) {
      return moment.toISOString().replace(".000Z", "").replace("T00:00:00", "").replace("T23:59:59", "").replace("T", " ").replace(/( \d\d:\d\d):00$/, "$1");
    }
  }
  return String(Math.round(at * 1000) / 1000);
}

/** The same with a word before turns. */
export function namedTime(at: number): string {
  return isDate(at) ? shownTime(at) : `turn ${shownTime(at)}`;
}

const HOUR = 3600; // seconds
const DAY = 86400;

/** A period that ends with a day in words, with its last day: "on 2024-03-01", "in 2024-03"; null for other periods. */
function shownPeriod(begin: number, end: number): string | null {
  if (!isDate(begin) || end <= begin) return null;
  const day = Math.floor(begin / DAY);
  if (end - begin > HOUR && Math.floor((end - 1) / DAY) === day) return `on ${shownTime(day * DAY)}`;
  if (end % DAY !== 0) return null;
  const [first, last, following] = [shownTime(begin), shownTime(end - DAY), shownTime(end)];
  if (end - begin === 1) return `until ${last}`; // nothing tells its beginning
  const year = first.slice(0, 4);
  if (first.endsWith("-01-01") && following === `${Number(year) + 1}-01-01`) return `in ${year}`;
  if (first.endsWith("-01") && following.endsWith("-01") && first.slice(0, 7) === last.slice(0, 7)) return `in ${first.slice(0, 7)}`;
  return `from ${first} to ${last}`;
}

/** From when, or since when it is known, something holds, and until when it did. */
export function shownInterval(times: { since: number; until: number | null; is_dated: boolean }): string {
  const begin = `${times.is_dated ? "from" : "known since"} ${namedTime(times.since)}`;
  if (times.until === null) return begin;
  const period = times.is_dated ? shownPeriod(times.since, times.until) : null;
  return period ?? `${begin}${times.is_dated ? "" : ", true"} until ${shownTime(times.until)}`;
}
