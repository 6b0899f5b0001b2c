import { realpathSync } from 'node:fs'
import { ToolError } from '../../contract/tool-error.ts'
import { wordsOf } from '../../functions/load/import-failure.ts'
import { placesIn } from '../../functions/load/place-in-stack.ts'
import { problemsError } from '../definition/finding.ts'

/** The CONFIG error about code that failed before it had made a workflow: the line of the file where that was, what failed, and why. An error that tells places in the workflow stays as it is. */
export function codeFailure(
  thrown: unknown,
  { file, shown, what }: { readonly file: string; readonly shown: string; readonly what: string },
): ToolError {
  const known = ToolError.is(thrown) ? thrown : undefined
  if (known?.details?.['problems'] !== undefined) return known
  const place = findPlace(thrown, file)
  const at =
    place === undefined
      ? { file: shown }
      : isFile(place.file, file)
        ? { file: shown, line: place.line }
        : place
  const [words] = (known?.message ?? wordsOf(thrown)).split('\n', 1)
  return problemsError([
    {
      ...at,
      path: '',
      message: `${what}: ${words}`,
      fix: known?.suggestion?.fix ?? `Look at ${at.file}${'line' in at ? `:${at.line}` : ''}`,
    },
  ])
}

// What failed may be code that the file only calls: where it did is told, and else where the failure was.
function findPlace(
  thrown: unknown,
  file: string,
): { readonly file: string; readonly line: number } | undefined {
  const places = placesIn((thrown as Partial<Error> | null | undefined)?.stack ?? '')
  return places.find((place) => isFile(place.file, file)) ?? places[0]
}

function isFile(named: string, file: string): boolean {
  return named === file || named === realpathSync(file)
}
