import { dirname } from 'node:path'
import { quoteForShell } from '../../contract/quote-for-shell.ts'
import { look } from '../cache/stamp.ts'
import type { Candidate } from './candidate.ts'
import { placeEntry } from './inside.ts'
import type { Outline, Trouble } from './outline.ts'
import { isExecutable, runnerOf } from './runner.ts'

type ManifestOutline = Outline & { readonly is: 'manifest' }

/** Finds the program of a manifest, or says why there is none that may be run. `entries` are those of the tool folders. */
export function placeManifest(
  folder: string,
  candidate: Candidate,
  { entry, runner }: ManifestOutline,
  entries: ReadonlyMap<string, string>,
): { readonly path: string } | Trouble {
  const { key, path, toolFolder } = candidate
  if (entry === undefined) {
    const found = toolFolder === undefined ? undefined : entries.get(toolFolder)
    return found === undefined
      ? {
          reason: 'missing',
          message: `${key} describes a tool that is not there: no cli.*, main.* or tool.* in ${toolFolder ?? folder}`,
          fix: `Put the program there, or name it: entry: <file>`,
        }
      : { path: found }
  }
  const bases = [
    ...(toolFolder === undefined ? [] : [toolFolder]),
    dirname(path),
    folder,
    dirname(folder),
  ]
  const place = placeEntry(folder, bases, entry)
  if ('reason' in place)
    return {
      reason: place.reason,
      message: `${key} ${place.message}`,
      fix:
        place.reason === 'outside'
          ? `Put the program below ${folder}, without '..' and without links that leave it`
          : `Write the path from ${folder}`,
    }
  if ((runner ?? runnerOf(place.path)) === 'exec' && !isExecutable(look(place.path)?.mode ?? 0))
    return {
      reason: 'not-executable',
      message: `${key} names a program that may not be executed: ${entry}`,
      fix: `chmod +x ${quoteForShell(place.path)}`,
    }
  return place
}
