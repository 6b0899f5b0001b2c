import { statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** What the tools of a project share, beside the folders of the tools. */
const SHARED = ['_lib', 'shared_venv']

/** The folders with the code of a program, which has to be read to run: where its files lie, a virtual environment around them, what the tools of its project share, and `node_modules` where Node looks for them. */
export function codeFolders(files: readonly string[]): readonly string[] {
  const own = files.filter((file) => file.startsWith('/')).map((file) => dirname(file))
  return [...new Set(own.flatMap((folder) => [folder, ...around(folder).filter(isFolder)]))]
}

function around(folder: string): readonly string[] {
  const parent = dirname(folder)
  const environment = statSync(join(parent, 'pyvenv.cfg'), { throwIfNoEntry: false }) ? [parent] : []
  return [...environment, ...SHARED.map((name) => join(parent, name)), ...above(folder).map((place) => join(place, 'node_modules'))]
}

function above(folder: string): readonly string[] {
  const parent = dirname(folder)
  return parent === folder ? [] : [folder, ...above(parent)]
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
