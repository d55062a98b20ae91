// The side panel: what is known about what was chosen, since when, from where, and why it ended.
import { type Child, count, fill, h, s } from "../common/dom";
import { namedTime, shownInterval, shownTime } from "../common/times";
import {
  type Entity,
  type Episode,
  type EpisodeHit,
  type Hit,
  type Said,
  type Statement,
  statusAt,
  type Summary,
  type Version,
} from "./data";

export interface Actions {
  choose(name: string): void;
  expand(name: string): void;
  only(name: string): void;
  longer(name: string): void;
  episode(id: string): Promise<Episode>;
}

const BAR = 10; // height of a bar of the timeline

export class Panel {
  constructor(
    private readonly place: HTMLElement,
    private readonly actions: Actions,
  ) {}

  /** What the memory is, and where to begin. */
  welcome(summary: Summary): void {
    const { counts } = summary;
    // of a very large memory some are not counted
    const figures: [string, number | undefined][] = [
      ["names", summary.names],
      ["statements", counts["statements"]],
      ["facts that hold", counts["current_facts"]],
      ["theses that hold", counts["current_theses"]],
      ["ended", counts["ended"]],
      ["episodes", counts["episodes"]],
    ];
    fill(
      this.place,
      h("h2", {}, "This memory"),
      h("p", { class: "muted path" }, summary.file),
      h(
        "dl",
        { class: "figures" },
        ...figures.flatMap(([name, number]) =>
          number === undefined ? [] : [h("dt", {}, name), h("dd", {}, number.toLocaleString("en"))],
        ),
      ),
      summary.small
        ? null
        : h(
            "p",
            { class: "hint" },
            `Too large to be drawn whole (${summary.most_drawn.toLocaleString("en")} vertices are the most): neighbourhoods are shown. Search for a name, or begin with one of these.`,
          ),
      h("h3", {}, "Most is known about"),
      h("ul", { class: "chips" }, ...summary.strongest.map(({ name, weight }) => h("li", {}, this.name(name, weight)))),
    );
  }

  waiting(title: string): void {
    fill(this.place, h("h2", {}, title), h("p", { class: "muted" }, "Looking …"));
  }

  failed(title: string, message: string): void {
    fill(this.place, h("h2", {}, title), h("p", { class: "error" }, message));
  }

  /** A name with all that ever held about it. */
  entity(entity: Entity, moment: number | null, loaded: { shown: number; total: number } | null): void {
    const standing = entity.statements.map((statement) => ({ statement, status: statusAt(statement.held, moment) }));
    const current = standing.filter(({ status }) => status === "current");
    const ended = standing.filter(({ status }) => status === "ended");
    const left = entity.total - entity.statements.length;
    const more = loaded !== null && loaded.shown < loaded.total;
    fill(
      this.place,
      h("p", { class: "kicker" }, "name"),
      h("h2", { id: "chosen" }, entity.label),
      h(
        "p",
        { class: "muted" },
        `${count(entity.total, "statement")}, ${entity.current} of them ${entity.current === 1 ? "holds" : "hold"} now`,
      ),
      h(
        "div",
        { class: "buttons" },
        more
          ? h(
              "button",
              { id: "expand", click: () => this.actions.expand(entity.name) },
              `More neighbours (${loaded.total - loaded.shown})`,
            )
          : null,
        h("button", { click: () => this.actions.only(entity.name) }, "Only its neighbourhood"),
      ),
      h("h3", {}, moment === null ? "Holds now" : `Held at ${namedTime(moment)}`),
      current.length
        ? h(
            "ul",
            { class: "statements" },
            ...current.map(({ statement }) => this.statementItem(statement, entity.name)),
          )
        : h("p", { class: "muted" }, "Nothing."),
      ended.length ? h("h3", {}, "Ended") : null,
      ended.length
        ? h(
            "ul",
            { class: "statements past" },
            ...ended.map(({ statement }) => this.statementItem(statement, entity.name)),
          )
        : null,
      left > 0
        ? h(
            "button",
            { click: () => this.actions.longer(entity.name) },
            `Show more of ${entity.total.toLocaleString("en")} statements`,
          )
        : null,
      entity.statements.length > 1 ? h("h3", {}, "Timeline") : null,
      entity.statements.length > 1 ? this.timeline(entity, moment) : null,
    );
    this.place.scrollTop = 0;
  }

  /** One statement, opened. */
  statement(statement: Statement): void {
    fill(
      this.place,
      h("p", { class: "kicker" }, statement.kind),
      h("h2", { id: "chosen" }, statement.text),
      h("ul", { class: "chips" }, ...statement.names.map((name) => h("li", {}, this.name(name)))),
      ...statement.versions.map((version) => h("section", { class: "card" }, ...this.versionParts(version, true))),
    );
    this.place.scrollTop = 0;
  }

  episode(episode: Episode): void {
    fill(this.place, h("p", { class: "kicker" }, "episode"), ...this.episodeParts(episode, "h2"));
    this.place.scrollTop = 0;
  }

  /** What a question recalled. */
  hits(question: string, hits: (Hit | EpisodeHit)[], method: string): void {
    fill(
      this.place,
      h("p", { class: "kicker" }, `recalled by ${method}`),
      h("h2", { id: "chosen" }, question),
      hits.length ? null : h("p", { class: "muted" }, "Nothing about this is remembered."),
      h("ol", { class: "hits" }, ...hits.map((hit) => this.hit(hit))),
    );
    this.place.scrollTop = 0;
  }

  private hit(hit: Hit | EpisodeHit): HTMLElement {
    const path = hit.path.length ? h("p", { class: "muted trail" }, hit.path.join(" › ")) : null;
    if (hit.kind === "episode") {
      return h(
        "li",
        {},
        h("span", { class: "tag episode" }, "episode"),
        h("p", { class: "text clamped" }, hit.text),
        this.sourceButton(hit.episode, `read it (${namedTime(hit.at)})`),
        path,
      );
    }
    const version = hit.version;
    return h(
      "li",
      {},
      h("span", { class: `tag ${hit.kind}` }, hit.kind),
      h("p", { class: "text" }, hit.text),
      version
        ? h(
            "p",
            { class: version.until === null ? "muted" : "muted over" },
            shownInterval(version.since, version.until),
          )
        : null,
      h("ul", { class: "chips" }, ...hit.names.map((name) => h("li", {}, this.name(name)))),
      path,
    );
  }

  private statementItem(statement: Statement, about: string): HTMLElement {
    const last = statement.versions.at(-1);
    const body = h("div", { class: "more" });
    const details = h(
      "details",
      {
        toggle: () => {
          if (!details.open || body.childElementCount) return;
          const others = statement.names.filter((name) => name !== about);
          fill(
            body,
            others.length ? h("ul", { class: "chips" }, ...others.map((name) => h("li", {}, this.name(name)))) : null,
            ...statement.versions.flatMap((version) => this.versionParts(version, false)),
          );
        },
      },
      h(
        "summary",
        {},
        statement.relation === undefined
          ? h("span", { class: "text" }, statement.text)
          : h(
              "span",
              { class: "text" },
              h("span", {}, statement.subject),
              h("em", {}, ` ${statement.relation} `),
              h("span", {}, statement.object),
            ),
        last ? h("span", { class: "when" }, shownInterval(last.since, last.until)) : null,
      ),
      body,
    );
    return h("li", {}, details);
  }

  private versionParts(version: Version, open: boolean): Child[] {
    return [
      h("p", { class: open ? "when strong" : "when" }, shownInterval(version.since, version.until)),
      version.reason === null
        ? null
        : h(
            "p",
            { class: "why" },
            h("strong", {}, "Ended: "),
            version.reason,
            " ",
            version.ended_by ? this.sourceButton(version.ended_by, "by this episode") : null,
          ),
      h(
        "div",
        { class: "sources" },
        h("span", { class: "muted" }, version.sources.length + version.more_sources === 1 ? "Source" : "Sources"),
        ...version.sources.map((id, number) => this.sourceButton(id, String(number + 1))),
        version.more_sources ? h("span", { class: "muted" }, `and ${version.more_sources} more`) : null,
      ),
    ];
  }

  /** A button that opens an episode below itself. */
  private sourceButton(id: string, label: string): HTMLElement {
    const button = h("button", { class: "source", "aria-expanded": "false", title: "the episode that says so" }, label);
    let opened: HTMLElement | null = null;
    button.addEventListener("click", async () => {
      if (opened !== null) {
        opened.remove();
        opened = null;
      } else {
        opened = h("blockquote", { class: "card" });
        (button.closest(".sources") ?? button).after(opened);
        try {
          fill(opened, ...this.episodeParts(await this.actions.episode(id), "h4"));
        } catch (error) {
          fill(opened, error instanceof Error ? error.message : String(error));
        }
      }
      button.setAttribute("aria-expanded", String(opened !== null));
    });
    return button;
  }

  private episodeParts(episode: Episode, level: "h2" | "h4"): Child[] {
    return [
      h(level, {}, episode.source || "Episode", " ", h("span", { class: "when" }, namedTime(episode.at))),
      h("p", { class: "told", dir: "auto" }, episode.text),
      episode.left_out ? h("p", { class: "muted" }, `and ${count(episode.left_out, "more character")}`) : null,
      level === "h2" ? this.saidList("It states", episode.statements) : null,
      level === "h2" ? this.saidList("It ended", episode.ended) : null,
      h(
        "p",
        { class: "muted" },
        [
          episode.reader ? `read by ${episode.reader}` : "not read yet",
          episode.recorded_at === null ? "" : `recorded ${shownTime(episode.recorded_at)}`,
        ]
          .filter(Boolean)
          .join(", "),
      ),
    ];
  }

  private saidList(title: string, said: (Said & { reason?: string })[]): HTMLElement | null {
    if (!said.length) return null;
    return h(
      "section",
      {},
      h("h3", {}, title),
      h(
        "ul",
        { class: "plain" },
        ...said.map((one) =>
          h("li", {}, one.text, one.reason ? h("span", { class: "muted" }, ` (${one.reason})`) : null),
        ),
      ),
    );
  }

  private name(name: string, weight?: number): HTMLElement {
    return h(
      "button",
      { class: "chip", click: () => this.actions.choose(name) },
      name,
      weight === undefined ? null : h("span", { class: "muted" }, ` ${weight}`),
    );
  }

  /** Bars over world time, a line each. */
  private timeline(entity: Entity, moment: number | null): SVGElement {
    const rows = [...entity.statements]
      .sort((a, b) => (a.versions[0]?.since ?? 0) - (b.versions[0]?.since ?? 0))
      .slice(0, 60);
    const times = rows.flatMap((row) => row.held.flatMap(([from, to]) => (to === null ? [from] : [from, to])));
    const first = Math.min(...times);
    const last = Math.max(...times, first + 1);
    const width = 320;
    const pad = (last - first) * 0.06; // what holds goes on beyond the last moment
    const x = (time: number): number => (width * (time - first)) / (last - first + pad);
    const height = rows.length * (BAR + 4) + 18;
    const bars = rows.flatMap((row, number) =>
      row.versions.map((version) => {
        const start = x(version.since);
        const end = version.until === null ? width : x(version.until);
        const bar = s("rect", {
          class: version.until === null ? "span" : "span over",
          x: start,
          y: number * (BAR + 4),
          width: Math.max(end - start, 2),
          height: BAR,
          rx: 2,
        });
        bar.append(s("title", {}, `${row.text}: ${shownInterval(version.since, version.until)}`));
        return bar;
      }),
    );
    return s(
      "svg",
      {
        class: "timeline",
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": `when statements about ${entity.label} held`,
      },
      ...bars,
      moment === null || moment < first
        ? null
        : s("line", {
            class: "cursor",
            x1: x(Math.min(moment, last)),
            x2: x(Math.min(moment, last)),
            y1: 0,
            y2: height - 16,
          }),
      s("text", { x: 0, y: height - 3 }, shownTime(first)),
      s("text", { x: width, y: height - 3, "text-anchor": "end" }, shownTime(last)),
    );
  }
}
