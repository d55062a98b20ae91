// The map of a game as the memory has it: rooms, ways, and loose ends.
import { s } from "./dom";

export interface Room {
  name: string;
  x: number;
  y: number;
  here: boolean;
  things: string[];
}

export interface MapDrawing {
  width: number;
  height: number;
  box: [number, number];
  rooms: Room[];
  ways: { from: [number, number]; to: [number, number]; presumed: boolean }[];
  exits: { x: number; y: number; direction: string }[];
}

const ARROWS: Record<string, string> = {
  north: "↑",
  south: "↓",
  east: "→",
  west: "←",
  northeast: "↗",
  northwest: "↖",
  southeast: "↘",
  southwest: "↙",
  up: "⇡",
  down: "⇣",
};
const LETTERS = 20; // that fit into a room
const THINGS = 2; // listed in a room

/** The map; `pick` is told of the room that is clicked, or entered by the keyboard. */
export function mapPicture(drawing: MapDrawing, pick?: (room: string) => void): SVGSVGElement {
  const [width, height] = drawing.box;
  const here = drawing.rooms.find((room) => room.here)?.name;
  const svg = s("svg", {
    class: "map",
    viewBox: `0 0 ${Math.max(drawing.width, 320)} ${Math.max(drawing.height, 160)}`,
    role: pick ? "group" : "img",
    "aria-label": `map of ${drawing.rooms.length} rooms, ${drawing.exits.length} ways not taken yet${here ? `, the player is in ${here}` : ""}`,
  });
  for (const way of drawing.ways) {
    svg.append(
      s("line", {
        class: way.presumed ? "way presumed" : "way",
        x1: way.from[0],
        y1: way.from[1],
        x2: way.to[0],
        y2: way.to[1],
      }),
    );
  }
  for (const room of drawing.rooms) {
    const middle = room.x + width / 2;
    const group = s(
      "g",
      pick
        ? {
            class: room.here ? "room here" : "room",
            tabindex: 0,
            role: "button",
            "aria-label": room.name,
            "data-room": room.name,
            click: () => pick(room.name),
            keydown: (event) => {
              if ((event as KeyboardEvent).key === "Enter") pick(room.name);
            },
          }
        : { class: room.here ? "room here" : "room" },
      s("title", {}, [room.name, ...room.things].join("\n")),
      s("rect", { x: room.x, y: room.y, width, height, rx: 10 }),
      s("text", { class: "name", x: middle, y: room.y + 22, "text-anchor": "middle" }, cut(room.name)),
    );
    const more = room.things.length - THINGS;
    const shown = more > 0 ? [...room.things.slice(0, THINGS - 1), `and ${more + 1} more`] : room.things;
    shown.forEach((thing, number) =>
      group.append(
        s("text", { class: "thing", x: middle, y: room.y + 39 + 15 * number, "text-anchor": "middle" }, cut(thing)),
      ),
    );
    svg.append(group);
  }
  for (const exit of drawing.exits) {
    svg.append(
      s(
        "text",
        { class: "exit", x: exit.x, y: exit.y, "text-anchor": "middle" },
        ARROWS[exit.direction] ?? exit.direction,
        s("title", {}, `${exit.direction}: not taken yet`),
      ),
    );
  }
  return svg;
}

const cut = (text: string): string => (text.length <= LETTERS ? text : `${text.slice(0, LETTERS - 1).trimEnd()}…`);
