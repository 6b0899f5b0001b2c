import { join } from 'node:path'
import { isObject } from '../../../contract/json.ts'
import { readText } from '../../../call/exclusive-file.ts'

/** The file in a skill's folder that says who wrote it and what. */
export const MARKER = '.toolable.json'

/** Digests of texts by path. */
export type Digests = { readonly [path: string]: string }

/** What we wrote into a folder. */
export type Marker = {
  readonly program: string
  readonly files: Digests
  /** What an update is about to write; gone when it is done. */
  readonly pending?: Digests
  /** How many folders we made: the skill's own, and those above it. */
  readonly folders: number
}

/** The marker of a folder; undefined where there is none, or none that we could have written. */
export function readMarker(folder: string): Marker | undefined {
  try {
    const marker = JSON.parse(readText(join(folder, MARKER)) ?? '') as unknown
    return isMarker(marker) ? marker : undefined
  } catch {
    return undefined
  }
}

/** The marker as it stands in its file. */
export function writeMarker(marker: Marker): string {
  return `${JSON.stringify(marker, null, 2)}\n`
}

/** The paths of what is ours in a folder, the marker not among them. */
export function ownPaths({ files, pending = {} }: Marker): readonly string[] {
  return [...new Set([...Object.keys(files), ...Object.keys(pending)])]
}

/** What we may have written at a path. */
export function digestsAt({ files, pending = {} }: Marker, path: string): readonly string[] {
  return [files, pending].flatMap((digests) =>
    Object.hasOwn(digests, path) ? [digests[path]!] : [],
  )
}

function isMarker(value: unknown): value is Marker {
  return (
    isObject(value) &&
    typeof value['program'] === 'string' &&
    isDigests(value['files']) &&
    (value['pending'] === undefined || isDigests(value['pending'])) &&
    Number.isInteger(value['folders'])
  )
}

// Folders are shared: a path that leads out of its folder was not written by us.
function isDigests(value: unknown): boolean {
  return (
    isObject(value) &&
    Object.entries(value).every(
      ([path, digest]) =>
        typeof digest === 'string' && /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/.test(path),
    )
  )
}
