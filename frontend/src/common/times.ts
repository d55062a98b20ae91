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

/** From when, or since when it is known, something holds, and until when it did; `days` says it of whole days. */
export function shownInterval(times: { since: number; until: number | null; is_dated: boolean; days: string | null }): string {
  if (times.days !== null) return times.days;
  const begin = `${times.is_dated ? "from" : "known since"} ${namedTime(times.since)}`;
  return times.until === null ? begin : `${begin}${times.is_dated ? "" : ", true"} until ${shownTime(times.until)}`;
}
