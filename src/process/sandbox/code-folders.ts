import { lstatSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isWholeHome, realPath } from './paths.ts'

/** What the tools of a project share, beside the folders of the tools. */
const SHARED = ['_lib', 'shared_venv']

/**
 * The folders with the code of a program, which has to be read to run: where its files lie, a virtual environment around them, what the tools of its project share,
 * and `node_modules` where Node looks for them. Of a file that lies in a home itself, the file alone.
 */
export function codeFolders(files: readonly string[]): readonly string[] {
  const own = files
    .filter((file) => file.startsWith('/'))
    .map((file) => (isWholeHome(dirname(file)) ? file : dirname(file)))
  return [
    ...new Set(
      own.flatMap((place) => [
        place,
        ...(files.includes(place) ? [] : around(place).filter(isItself)),
      ]),
    ),
  ]
}

function around(folder: string): readonly string[] {
  const parent = dirname(folder)
  const environment =
    !isWholeHome(parent) && realPath(join(parent, 'pyvenv.cfg')) !== undefined ? [parent] : []
  return [
    ...environment,
    ...SHARED.map((name) => join(parent, name)),
    ...above(folder).map((place) => join(place, 'node_modules')),
  ]
}

function above(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [] : [folder, ...above(parent)]
}

// A link may be the tool's own and lead anywhere; one that leads to a folder of the same name leads to what the name promises.
function isItself(path: string): boolean {
  const real = realPath(path)
  return real !== undefined && basename(real) === basename(path) && lstatSync(real).isDirectory()
}
