// The side panel: what is known about what was chosen, since when, from where, and why it ended.
import { type Child, count, fill, h, s } from "../common/dom";
import { namedTime, shownInterval, shownTime } from "../common/times";
import { relationNumber } from "../common/theme";
import { shownReason } from "../common/words";
import { type Choice, MOST_DEPTH } from "./address";
import {
  type Answer,
  type ClusterPicture,
  type ClusterPlace,
  type Entity,
  type Episode,
  type EpisodeHit,
  heldWithin,
  type Hit,
  type Interval,
  isOver,
  type Said,
  type Statement,
  statusAt,
  type Store,
  type Summary,
  type Version,
  type WeighedName,
} from "./data";

export interface Actions {
  /** The address of something. */
  link(choice: Choice): string;
  clusterLink(cluster: ClusterPlace | null, skip?: number): string;
  expand(name: string): void;
  only(name: string): void;
  deeper(depth: number): void;
  longer(name: string): void;
  episode(id: string): Promise<Episode>;
  /** What can be changed about something; empty where the memory is only read. */
  edits(about: Edited): HTMLElement[];
  /** A button beside a line that corrects it; none where the memory is only read. */
  correction(statement: Said): HTMLElement | null;
}

/** What a person may change. */
export type Edited =
  | { kind: "name"; name: string; label: string }
  | { kind: "statement"; statement: Said }
  | { kind: "source"; episode: Episode };

/** When it is looked at. */
export interface When {
  moment: number | null;
  range: [number, number] | null;
}

const MOST_CLUSTERS = 40; // in one picture, as the server has it
const BAR = 6; // height of a bar of the timeline
const ROW = 24; // height of a line of it
const MOST_ROWS = 60;
const LETTERS = 42; // of a line
const LETTER = 5.8; // width of one

export class Panel {
  constructor(
    private readonly place: HTMLElement,
    private readonly actions: Actions,
  ) {}

  /** What the memory is at a moment, and where to begin. */
  welcome(summary: Summary, store: Store, when: When): void {
    const { counts } = summary;
    // of a very large memory some are not counted
    const figures: [string, number | undefined][] = [
      ["names", counts.names],
      ["facts and sentences", counts.statements],
      [when.range !== null ? "true in this time" : when.moment === null ? "true now" : "true then", counts.current],
      ["ended", counts.ended],
      ["texts", counts.texts],
    ];
    const { first, last } = summary;
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
      first === null || last === null
        ? null
        : h("p", { class: "muted" }, `from ${namedTime(first)} to ${shownTime(last)}`),
      when.moment === null && when.range === null ? null : h("p", { class: "hint" }, `What was known${whenWords(when)}.`),
      summary.small
        ? null
        : h(
            "p",
            { class: "hint" },
            store.clusters === null
              ? "This memory is large: looking for clusters of names that statements connect with each other …"
              : !store.clusters.total
                ? `This memory is large and hangs together as one: its ${store.vertices.size} most connected names are drawn. Find any other above.`
                : `This memory has more than ${summary.most_drawn.toLocaleString("en")} names, so they are drawn as clusters: names that statements connect with each other more than with the rest. Open one, or find a name above.`,
          ),
      ...(store.clusters === null ? [] : this.clusterList(store.clusters, store)),
      ...(summary.latest.length
        ? [
            h("h3", {}, "Learned most recently"),
            h(
              "ul",
              { class: "latest" },
              ...summary.latest.map((one) =>
                h(
                  "li",
                  {},
                  h("a", { href: this.actions.link({ kind: "statement", id: one.id }) }, one.text),
                  h("span", { class: "muted" }, ` ${shownInterval(one)}`),
                ),
              ),
            ),
          ]
        : []),
      h("h3", {}, "Best-known names"),
      this.nameList(summary.strongest),
    );
  }

  /** A cluster that was opened: the way to it, its best-known names, and the clusters in it. */
  cluster(told: ClusterPicture, store: Store): void {
    const opened = told.path.at(-1);
    if (opened === undefined) return;
    const above = told.path.slice(0, -1);
    const drawn = [...store.vertices.values()].filter(({ kind }) => kind === "entity").length;
    fill(
      this.place,
      h(
        "nav",
        { class: "crumbs", "aria-label": "Clusters above" },
        h("a", { href: this.actions.clusterLink(null) }, "All clusters"),
        ...above.map(({ name, level, label }) => h("a", { href: this.actions.clusterLink({ name, level }) }, label)),
      ),
      h("p", { class: "kicker" }, "cluster"),
      h("h2", { id: "cluster" }, opened.label),
      h(
        "p",
        { class: "muted" },
        count(told.names, "name") +
          (told.total ? ` in ${count(told.total, "cluster")}` : told.names > drawn ? `, the ${drawn} most connected are drawn` : ""),
      ),
      ...this.clusterList(told, store),
      h("h3", {}, "Most connected names in it"),
      this.nameList(told.best),
    );
    this.place.scrollTop = 0;
  }

  /** The clusters of a picture as a list, for the keyboard and for those who do not see the picture. */
  private clusterList(told: ClusterPicture, store: Store): Child[] {
    const opened = told.path.at(-1) ?? null;
    const listed = store.listedClusters();
    if (!told.total) return [];
    return [
      h("h3", {}, "Clusters"),
      h(
        "ol",
        { class: "clusters" },
        ...listed.map(({ label, weight, type, cluster }) =>
          h(
            "li",
            {},
            h("span", { class: `dot ${type ?? "thing"}`, "aria-hidden": "true" }),
            h("a", { href: this.actions.clusterLink(cluster === undefined ? null : { name: cluster.name, level: cluster.level }) }, label),
            h("span", { class: "muted" }, count(weight, "name")),
          ),
        ),
      ),
      listed.length ? null : h("p", { class: "muted" }, "Nothing is known at this time."),
      h(
        "p",
        { class: "muted" },
        told.skip ? h("a", { class: "larger", href: this.actions.clusterLink(opened, Math.max(0, told.skip - MOST_CLUSTERS)) }, "Larger clusters") : null,
        told.skip && told.left ? " · " : null,
        told.left
          ? h("a", { class: "smaller", href: this.actions.clusterLink(opened, told.skip + MOST_CLUSTERS) }, count(told.left, "smaller cluster"))
          : null,
        told.left ? ` with ${count(told.left_names, "name")}` : null,
      ),
    ];
  }

  waiting(title: string, more: HTMLElement): void {
    fill(this.place, h("h2", {}, title), h("p", { class: "muted" }, "Looking for the answer …"), more);
  }

  /** What an address says is not there, and what to do about it. */
  missing(what: string, message: string): void {
    fill(
      this.place,
      h("p", { class: "kicker" }, "not found"),
      h("h2", {}, what),
      h("p", { class: "error", role: "alert" }, message),
      h(
        "p",
        {},
        "It may have been forgotten, be spelled in another way, or be in another memory. Type a part of a name above, or ",
        h("a", { href: "#" }, "show this whole memory"),
        ".",
      ),
    );
  }

  /** A memory that cannot be opened; the reason stands above all. */
  closed(again: () => void): void {
    fill(
      this.place,
      h("h2", {}, "This memory cannot be shown"),
      h(
        "p",
        {},
        "The reason is at the top of the page. When that is mended, try again; or choose another memory, look at ",
        h("a", { href: "/runs" }, "runs"),
        ", or ",
        h("a", { href: "/play" }, "watch a game"),
        ".",
      ),
      h("button", { type: "button", class: "again", click: again }, "Try again"),
    );
  }

  failed(title: string, message: string, again: () => void): void {
    fill(
      this.place,
      h("h2", {}, title),
      h("p", { class: "error", role: "alert" }, message),
      h("button", { type: "button", class: "again", click: again }, "Ask again"),
    );
  }

  /** A name with all that ever held about it, one line a fact. */
  entity(
    entity: Entity,
    when: When,
    shown: { loaded: { shown: number; total: number } | null; depth: number; restated: boolean },
  ): void {
    const numbers = new Set(entity.statements.map(({ number }) => number));
    const isDouble = ({ restates }: Statement): boolean => restates !== null && numbers.has(restates);
    const lines = shown.restated ? entity.statements : entity.statements.filter((one) => !isDouble(one));
    const restated = entity.statements.length - lines.length;
    const current = lines.filter(({ held }) => holds(held, when));
    const ended = when.range === null ? lines.filter(({ held }) => statusAt(held, when.moment) === "ended") : [];
    const left = entity.total - entity.statements.length;
    const { loaded } = shown;
    const more = loaded !== null && loaded.shown < loaded.total;
    const list = (rows: Statement[], kind: string): HTMLElement =>
      h("ul", { class: kind }, ...rows.map((statement) => this.statementItem(statement, entity)));
    fill(
      this.place,
      h("p", { class: "kicker" }, h("span", { class: `dot ${entity.type}`, "aria-hidden": "true" }), entity.type),
      h("h2", { id: "chosen" }, entity.label),
      h(
        "p",
        { class: "muted" },
        (left > 0 ? `${entity.total.toLocaleString("en")} statements in all; of the first ${entity.statements.length}, ` : "") +
          `${count(current.length, "statement")} ${current.length === 1 ? "holds" : "hold"}${whenWords(when)} · ${ended.length} ended` +
          (restated ? ` · ${count(restated, "sentence")} ${restated === 1 ? "repeats" : "repeat"} them` : ""),
      ),
      h("h3", {}, when.range !== null ? "Held in this time" : when.moment === null ? "Holds now" : `Held at ${namedTime(when.moment)}`),
      current.length ? list(current, "statements") : h("p", { class: "muted" }, "nothing"),
      ended.length ? h("h3", {}, "Ended") : null,
      ended.length ? list(ended, "statements past") : null,
      left > 0
        ? h(
            "button",
            { click: () => this.actions.longer(entity.name) },
            `Show more of the ${entity.total.toLocaleString("en")} statements`,
          )
        : null,
      lines.length > 1 ? h("h3", {}, "Timeline") : null,
      lines.length > 1 ? this.timeline(entity.label, lines, when) : null,
      h("h3", {}, "In the graph"),
      h(
        "div",
        { class: "buttons", role: "group", "aria-label": "How far around it" },
        ...Array.from({ length: MOST_DEPTH }, (_, number) =>
          h(
            "button",
            {
              class: "depth",
              "aria-pressed": String(shown.depth === number + 1),
              click: () => this.actions.deeper(number + 1),
            },
            count(number + 1, "step"),
          ),
        ),
        more
          ? h(
              "button",
              { id: "expand", click: () => this.actions.expand(entity.name) },
              `More neighbours (${loaded.total - loaded.shown})`,
            )
          : null,
        h("button", { click: () => this.actions.only(entity.name) }, "Show only this neighbourhood"),
      ),
      ...this.editSection({ kind: "name", name: entity.name, label: entity.label }),
    );
    this.place.scrollTop = 0;
  }

  private editSection(about: Edited): Child[] {
    const edits = this.actions.edits(about);
    return edits.length ? [h("h3", {}, "Change"), h("div", { class: "buttons" }, ...edits)] : [];
  }

  /** One statement, opened. */
  statement(statement: Statement, when: When): void {
    fill(
      this.place,
      h("p", { class: "kicker" }, statement.kind === "fact" ? "fact" : "sentence"),
      h("h2", { id: "chosen" }, statement.text),
      h("p", { class: "muted", id: "standing" }, standing(statement, when)),
      h("ul", { class: "chips" }, ...this.namesOf(statement)),
      ...statement.versions.map((version) => h("section", { class: "card" }, ...this.versionParts(version, true))),
      ...this.editSection({ kind: "statement", statement }),
    );
    this.place.scrollTop = 0;
    this.place.querySelector<HTMLButtonElement>(".sources .source")?.click(); // what a person asks next: who says so
  }

  episode(episode: Episode, when: When): void {
    const isLater = episode.at > (when.range?.[1] ?? when.moment ?? Infinity);
    fill(this.place, h("p", { class: "kicker" }, "text"), ...this.episodeParts(episode, "h2"),
      isLater ? h("p", { class: "hint" }, "This text is later than the time that is shown.") : null,
      ...this.editSection({ kind: "source", episode }));
    this.place.scrollTop = 0;
  }

  /** An answer by rule, its evidence, and what else was recalled; `model` is the name of the model that can be asked too, empty without one. */
  answer(told: Answer, when: When, model: string, askModel: (place: HTMLElement) => void): void {
    const { answer, sources, nearest, hits, as_of: moment } = told;
    const asOf = told.asked_time || (told.as_of === null ? "" : `as of ${namedTime(told.as_of)}`);
    fill(
      this.place,
      h("p", { class: "kicker" }, ["question", asOf].filter(Boolean).join(" · ")),
      h("h2", { id: "chosen" }, told.question),
      h(
        "section",
        { class: answer === null ? "card answer none" : "card answer" },
        h("p", { id: "answer" }, answer ?? "There is not enough information to answer this."),
        told.confidence === null || answer === null
          ? null
          : h("p", { class: "muted" }, `found by rule · confidence ${Math.round(told.confidence * 100)} %`),
      ),
      model ? this.modelOffer(model, askModel) : null,
      sources.length ? h("h3", {}, "Evidence") : null,
      h("ul", { class: "statements evidence" }, ...told.evidence.map((statement) => this.evidenceItem(statement, when))),
      h("ul", { class: "hits" }, ...sources.map((hit) => (hit.kind === "episode" ? this.hit(hit, false, moment) : null))),
      answer === null && nearest.length ? h("h3", {}, "Closest matches") : null,
      answer === null ? h("ul", { class: "hits" }, ...nearest.map((hit) => this.hit(hit, false, moment))) : null,
      h("h3", {}, "Recalled ", h("span", { class: "muted" }, `by the method “${told.method}”`)),
      hits.length ? null : h("p", { class: "muted" }, "Nothing was recalled."),
      h("ol", { class: "hits found" }, ...hits.map((hit) => this.hit(hit, true, moment))),
    );
    this.place.scrollTop = 0;
  }

  private modelOffer(model: string, ask: (place: HTMLElement) => void): HTMLElement {
    const place = h("div", { class: "by-model" });
    const button = h(
      "button",
      {
        type: "button",
        id: "ask-model",
        title: "This may cost money: the question and what is recalled for it go to the model",
        click: () => ask(place),
      },
      `Ask ${model} too`,
    );
    fill(place, button);
    return place;
  }

  /** What the model answered, in place of the offer. */
  modelAnswer(place: HTMLElement, told: Answer): void {
    const { as_of: moment } = told;
    fill(
      place,
      h(
        "section",
        { class: told.answer === null ? "card answer none" : "card answer", "aria-live": "polite" },
        h("p", { id: "model-answer" }, told.answer ?? "There is not enough information to answer this."),
        told.support === "inferred"
          ? h("p", { class: "muted inferred" }, "inferred: a step to this answer is implied, not stated")
          : null,
        h("p", { class: "muted" }, `answered by ${told.model}`),
        told.reasoning
          ? h("details", {}, h("summary", {}, "Its reasoning"), h("p", { class: "told", dir: "auto" }, told.reasoning))
          : null,
        told.sources.length ? h("h3", {}, "Sources that it cites") : null,
        h("ul", { class: "hits" }, ...told.sources.map((hit) => this.hit(hit, false, moment))),
      ),
    );
  }

  private evidenceItem(statement: Statement, { moment }: When): HTMLElement {
    const item = this.statementItem(statement, { name: "", statements: [] });
    if (statusAt(statement.held, moment) === "ended") item.classList.add("over");
    return item;
  }

  private hit(hit: Hit | EpisodeHit, scored: boolean, moment: number | null): HTMLElement {
    const score = scored ? h("span", { class: "score muted", title: "score" }, hit.score.toFixed(2)) : null;
    const path = scored && hit.path.length ? h("p", { class: "muted trail" }, "path: ", hit.path.join(" › ")) : null;
    if (hit.kind === "episode") {
      return h(
        "li",
        {},
        h("p", { class: "head" }, h("span", { class: "tag episode" }, "text"), score),
        h("p", { class: "text clamped" }, hit.text),
        this.sourceButton(hit.episode, `Show the text (${namedTime(hit.at)})`),
        path,
      );
    }
    const version = hit.version;
    const over = version != null && isOver(version.until, moment);
    return h(
      "li",
      { class: over ? "over" : "" },
      h(
        "p",
        { class: "head" },
        h("span", { class: `tag ${hit.kind}` }, hit.kind === "fact" ? "fact" : "sentence"),
        score,
      ),
      h("p", { class: "text" }, h("a", { href: this.actions.link({ kind: "statement", id: hit.id ?? "" }) }, hit.text)),
      version ? h("p", { class: "when" }, shownInterval(version)) : null,
      over && version?.reason ? h("p", { class: "why" }, h("strong", {}, "Ended: "), shownReason(version.reason)) : null,
      h("ul", { class: "chips" }, ...this.namesOf(hit)),
      path,
    );
  }

  private statementItem(statement: Statement, about: Pick<Entity, "name" | "statements">): HTMLElement {
    const last = statement.versions.at(-1);
    const body = h("div", { class: "more" });
    const details = h(
      "details",
      {
        toggle: () => {
          if (!details.open || body.childElementCount) return;
          const same = about.statements.filter(({ restates }) => restates === statement.number);
          fill(
            body,
            ...same.map(({ text }) => h("p", { class: "muted" }, `“${text}”`)),
            h(
              "ul",
              { class: "chips" },
              ...this.namesOf(statement, about.name),
              h(
                "li",
                {},
                h("a", { class: "chip", href: this.actions.link({ kind: "statement", id: statement.id }) }, "Open on its own"),
              ),
            ),
            ...statement.versions.flatMap((version) => this.versionParts(version, false)),
            h("div", { class: "buttons" }, ...this.actions.edits({ kind: "statement", statement })),
          );
        },
      },
      h(
        "summary",
        {},
        h("span", { class: statement.relation === undefined ? "dot thesis" : `dot relation-${relationNumber(statement.relation) + 1}`, "aria-hidden": "true" }),
        statement.relation === undefined
          ? h("span", { class: "text" }, statement.text)
          : h(
              "span",
              { class: "text" },
              h("span", {}, statement.subject),
              h("em", {}, ` ${statement.relation} `),
              h("span", {}, statement.object),
            ),
        last ? h("span", { class: "when" }, shownInterval(last)) : null,
      ),
      body,
    );
    return h("li", { class: "line-item" }, details, this.actions.correction(statement));
  }

  private versionParts(version: Version, open: boolean): Child[] {
    return [
      h("p", { class: open ? "when strong" : "when" }, shownInterval(version)),
      version.reason === null
        ? null
        : h(
            "p",
            { class: "why" },
            h("strong", {}, "Ended: "),
            shownReason(version.reason),
            " ",
            version.ended_by ? this.sourceButton(version.ended_by, "show the text") : null,
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
    const button = h("button", { class: "source", "aria-expanded": "false", title: "the text that says so" }, label);
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
      h(level, { id: level === "h2" ? "chosen" : null }, episode.source || "Text", " ", h("span", { class: "when" }, namedTime(episode.at))),
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
          h("li", {}, h("a", { href: this.actions.link({ kind: "statement", id: one.id }) }, one.text), one.reason ? h("span", { class: "muted" }, ` (${shownReason(one.reason)})`) : null),
        ),
      ),
    );
  }

  private name(name: string, label: string, weight?: number): HTMLElement {
    return h(
      "a",
      { class: "chip", href: this.actions.link({ kind: "name", id: name }) },
      label,
      weight === undefined ? null : h("span", { class: "muted" }, ` ${weight}`),
    );
  }

  private nameList(names: WeighedName[]): HTMLElement {
    return h("ul", { class: "chips" }, ...names.map(({ name, label, weight }) => h("li", {}, this.name(name, label, weight))));
  }

  /** The names in a statement, without one. */
  private namesOf({ names, labels }: Pick<Said, "names" | "labels">, without?: string): HTMLElement[] {
    return names.flatMap((name, number) => (name === without ? [] : [h("li", {}, this.name(name, labels[number] ?? name))]));
  }

  /** Bars over world time with their words, a line a statement. */
  private timeline(label: string, lines: Statement[], when: When): SVGElement {
    const rows = [...lines]
      .sort((a, b) => (a.versions[0]?.since ?? 0) - (b.versions[0]?.since ?? 0))
      .slice(0, MOST_ROWS);
    const times = rows.flatMap((row) => row.held.flatMap(([from, to]) => (to === null ? [from] : [from, to])));
    const first = Math.min(...times);
    const last = Math.max(...times, first + 1);
    const width = 330;
    const pad = (last - first) * 0.06; // what holds goes on beyond the last moment
    const x = (time: number): number => (width * (Math.min(Math.max(time, first), last + pad) - first)) / (last - first + pad);
    const height = rows.length * ROW + 18;
    const groups = rows.map((row, number) => {
      const y = number * ROW;
      const colour = row.relation === undefined ? "thesis" : `relation-${relationNumber(row.relation) + 1}`;
      const bars = row.versions.map((version) => {
        const start = x(version.since);
        const end = version.until === null ? width : x(version.until);
        return s("rect", {
          class: isOver(version.until, when.moment) ? "span over" : `span ${colour}`,
          x: start,
          y: y + 13,
          width: Math.max(end - start, 2),
          height: BAR,
          rx: 2,
        });
      });
      const begun = row.versions[0]?.since ?? first;
      const words = cut(aboutOf(row, label));
      const isLate = x(begun) + words.length * LETTER > width;
      return s(
        "g",
        {},
        s("title", {}, row.versions.map((version) => `${row.text}: ${shownInterval(version)}`).join("\n")),
        s("text", { x: isLate ? width : x(begun), y: y + 10, "text-anchor": isLate ? "end" : "start" }, words),
        ...bars,
      );
    });
    const at = when.moment;
    return s(
      "svg",
      {
        class: "timeline",
        viewBox: `0 0 ${width} ${height}`,
        role: "img",
        "aria-label": `when statements about ${label} held`,
      },
      ...groups,
      at === null || at < first ? null : s("line", { class: "cursor", x1: x(at), x2: x(at), y1: 0, y2: height - 16 }),
      s("text", { x: 0, y: height - 3 }, shownTime(first)),
      s("text", { x: width, y: height - 3, "text-anchor": "end" }, shownTime(last)),
    );
  }
}

/** How a statement stands at a moment, in words. */
function standing({ held }: Statement, when: When): string {
  if (when.range !== null) return `${heldWithin(held, when.range) ? "held" : "did not hold"}${whenWords(when)}`;
  if (when.moment === null) return statusAt(held, null) === "current" ? "holds now" : "has ended";
  const words = { current: "held", ended: "had ended", future: "did not hold yet" };
  return words[statusAt(held, when.moment)] + whenWords(when);
}

const holds = (held: Interval[], { moment, range }: When): boolean =>
  range === null ? statusAt(held, moment) === "current" : heldWithin(held, range);

function whenWords({ moment, range }: When): string {
  if (range !== null) return ` between ${shownTime(range[0])} and ${shownTime(range[1])}`;
  return moment === null ? " now" : ` at ${namedTime(moment)}`;
}

/** A statement without the name that it is about. */
function aboutOf(row: Statement, label: string): string {
  if (row.relation === undefined) return row.text;
  const same = (name: string | undefined): boolean => name?.toLowerCase() === label.toLowerCase();
  return same(row.subject) ? `${row.relation} ${row.object}` : row.text;
}

const cut = (text: string): string => (text.length <= LETTERS ? text : `${text.slice(0, LETTERS - 1).trimEnd()}…`);
