// A stream of events that notices when it has gone silent. A laptop that slept, a network that changed, and a server that
// was stopped leave a connection that looks open for many minutes: the server says every few seconds that it is there.
import { ServerError } from "./api";

const QUIET = 35_000; // milliseconds without a word after which the line is lost: more than two words of the server
const NEW_LOOK = 12_000; // the same for somebody who comes back to the page
const OFTEN = 3_000; // milliseconds between two looks
const PATIENCE = 10_000; // milliseconds for an answer of a server that may be gone
const FIRST_WAIT = 1_000; // milliseconds before the first attempt, doubled with each
const LONGEST_WAIT = 15_000;

interface Followed {
  /** What is listened to; it gets the data of each event. */
  heard: Record<string, (data: unknown) => void>;
  /** Asks whether the server still knows the stream; throws a `ServerError` with status 404 if not. */
  ask: (signal: AbortSignal) => Promise<unknown>;
  /** Says that the line is lost and tried again, or `null` when it is there. */
  say: (message: string | null) => void;
  /** The server no longer knows the stream. */
  gone: () => void;
}

export class Stream {
  private source: EventSource | null = null;
  private last = "0";
  private heardAt = Date.now();
  private attempts = 0;
  private isLost = false;
  private isClosed = false;
  private retry = 0;
  private readonly looking: number;
  private readonly back = (): void => {
    if (document.visibilityState === "visible") this.look(NEW_LOOK);
  };

  /** @param path of the events; what was heard before is left out by the parameter `after` */
  constructor(
    private readonly path: string,
    private readonly followed: Followed,
  ) {
    this.looking = window.setInterval(() => this.look(QUIET), OFTEN);
    for (const event of ["online", "pageshow"]) window.addEventListener(event, this.back);
    document.addEventListener("visibilitychange", this.back);
    this.open();
  }

  close(): void {
    this.isClosed = true;
    window.clearInterval(this.looking);
    window.clearTimeout(this.retry);
    for (const event of ["online", "pageshow"]) window.removeEventListener(event, this.back);
    document.removeEventListener("visibilitychange", this.back);
    this.source?.close();
    this.source = null;
  }

  private open(): void {
    const source = new EventSource(`${this.path}?after=${this.last}`);
    this.source = source;
    this.heardAt = Date.now();
    const hear = (): void => {
      this.heardAt = Date.now();
      this.attempts = 0;
      if (this.isLost) {
        this.isLost = false;
        this.followed.say(null);
      }
    };
    source.addEventListener("open", hear);
    source.addEventListener("alive", hear);
    for (const [kind, work] of Object.entries(this.followed.heard)) {
      source.addEventListener(kind, (event) => {
        const { data, lastEventId } = event as MessageEvent<string>;
        if (this.source !== source) return;
        hear();
        if (lastEventId) this.last = lastEventId;
        work(JSON.parse(data));
      });
    }
    source.addEventListener("error", () => {
      if (this.source === source) this.lose();
    });
  }

  /** Looks whether the line was silent for too long. */
  private look(quiet: number): void {
    if (this.source !== null && Date.now() - this.heardAt > quiet) this.lose();
  }

  private lose(): void {
    if (this.isClosed) return;
    this.source?.close();
    this.source = null;
    this.isLost = true;
    const wait = Math.min(FIRST_WAIT * 2 ** this.attempts, LONGEST_WAIT);
    this.attempts += 1;
    const more = this.attempts > 3 ? " Is “worldthread web” still running there?" : "";
    this.followed.say(`The connection to the server was lost. Trying again …${more}`);
    window.clearTimeout(this.retry);
    this.retry = window.setTimeout(() => void this.again(), wait);
  }

  private async again(): Promise<void> {
    const control = new AbortController();
    const timer = window.setTimeout(() => control.abort(), PATIENCE);
    try {
      await this.followed.ask(control.signal);
      if (!this.isClosed) this.open();
    } catch (error) {
      if (this.isClosed) return;
      if (error instanceof ServerError && error.status === 404) {
        this.close();
        this.followed.say(null);
        this.followed.gone();
      } else this.lose();
    } finally {
      window.clearTimeout(timer);
    }
  }
}
