// Where clusters go: linked ones near each other, none over another, each with room for its caption.
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from "d3-force";

export interface Disc {
  id: string;
  /** Its radius in pixels. */
  radius: number;
}

interface Body extends SimulationNodeDatum, Disc {}

const ROUNDS = 400;
const SPREAD = 2.399963; // the golden angle
const GAP = 6; // pixels between two discs
const CAPTION = 0.52; // of the room that each one has on average

/** The place of each disc in a window of so many pixels, the largest near the middle. */
export function clusterPlaces(
  discs: readonly Disc[],
  links: readonly { from: string; to: string }[],
  width: number,
  height: number,
): Map<string, { x: number; y: number }> {
  const room = CAPTION * Math.sqrt((width * height) / Math.max(discs.length, 1));
  const bodies: Body[] = [...discs]
    .sort((a, b) => b.radius - a.radius || (a.id < b.id ? -1 : 1))
    .map((disc, number) => ({
      ...disc,
      x: (room * Math.sqrt(number) * Math.cos(number * SPREAD) * width) / height,
      y: room * Math.sqrt(number) * Math.sin(number * SPREAD),
    }));
  const ties: SimulationLinkDatum<Body>[] = links.map(({ from, to }) => ({ source: from, target: to }));
  const [right, bottom] = [width / 2, height / 2];
  const simulation = forceSimulation(bodies)
    .stop()
    .force("link", forceLink<Body, SimulationLinkDatum<Body>>(ties).id(({ id }) => id).distance(room * 2).strength(0.08))
    .force("charge", forceManyBody<Body>().strength(-room))
    .force("apart", forceCollide<Body>(({ radius }) => Math.max(radius + GAP, room)).iterations(4))
    .force("x", forceX<Body>(0).strength((0.06 * height) / width))
    .force("y", forceY<Body>(0).strength((0.06 * width) / height));
  for (let round = 0; round < ROUNDS; round++) {
    simulation.tick();
    for (const body of bodies) {
      body.x = Math.min(Math.max(body.x ?? 0, body.radius - right), right - body.radius);
      body.y = Math.min(Math.max(body.y ?? 0, body.radius - bottom), bottom - body.radius);
    }
  }
  return new Map(bodies.map(({ id, x, y }) => [id, { x: x ?? 0, y: y ?? 0 }]));
}
