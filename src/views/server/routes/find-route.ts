import { ToolError } from '../../../contract/tool-error.ts'
import { decodeSegment, readIndex, readRunId } from './read-segments.ts'
import { RefusedRequest } from './refused-request.ts'
import type { Asked, Route } from './route.ts'
import { ROUTES } from './table.ts'

/** A route with what stands in the places of its path. */
export type FoundRoute = {
  readonly route: Route
  readonly places: Pick<Asked, 'run' | 'index' | 'name'>
}

const SPLIT = ROUTES.map((route) => ({ route, pattern: route.path.slice(1).split('/') }))

/** The route of a path behind `/api`. Throws NOT_FOUND, the refusal of a wrong method, or INVALID_INPUT for an id that can be none. */
export function findRoute(method: string, path: string): FoundRoute {
  const segments = path.slice(1).split('/')
  // A word in its place is meant before any name that could stand there.
  const fitting = SPLIT.filter(({ pattern }) => fits(pattern, segments)).sort(
    (left, right) => countPlaces(left.pattern) - countPlaces(right.pattern),
  )
  if (fitting.length === 0)
    throw new ToolError('NOT_FOUND', `nothing is at /api${path.slice(0, 100)}`, {
      suggestion: 'docs/dashboard.md lists what can be asked for',
    })
  const found = fitting.find(({ route }) => route.method === (method === 'HEAD' ? 'GET' : method))
  if (!found) {
    const allow = [
      ...new Set(
        fitting.flatMap(({ route }) => (route.method === 'GET' ? ['GET', 'HEAD'] : ['POST'])),
      ),
    ].join(', ')
    throw new RefusedRequest(
      405,
      new ToolError('USAGE', `/api${path.slice(0, 100)} does not answer ${method.slice(0, 20)}`, {
        suggestion: `Use ${allow}`,
      }),
      { allow },
    )
  }
  return { route: found.route, places: readPlaces(found.pattern, segments) }
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, index) =>
      part.startsWith(':') ? segments[index] !== '' : part === segments[index],
    )
  )
}

function countPlaces(pattern: readonly string[]): number {
  return pattern.filter((part) => part.startsWith(':')).length
}

function readPlaces(pattern: readonly string[], segments: readonly string[]): FoundRoute['places'] {
  const at = (place: string): string | undefined => {
    const index = pattern.indexOf(place)
    return index < 0 ? undefined : decodeSegment(segments[index]!)
  }
  const [run, index, name] = [at(':run'), at(':index'), at(':name')]
  return {
    run: run === undefined ? '' : readRunId(run),
    index: index === undefined ? 0 : readIndex(index),
    name: name ?? '',
  }
}
