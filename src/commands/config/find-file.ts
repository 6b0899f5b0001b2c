import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { CONFIGURATION_NAMES } from '../../call/find-project.ts'
import { ToolError } from '../../contract/tool-error.ts'

/** The configuration file that counts in a folder: the one that was named, else the nearest upwards, else undefined. Throws CONFIG for one that is not there, and for two side by side. */
export function findFile(cwd: string, named: string | undefined): string | undefined {
  if (named !== undefined) return checkNamed(resolve(cwd, named), named)
  for (let folder = cwd; ; folder = dirname(folder)) {
    const found = CONFIGURATION_NAMES.filter((name) => existsSync(join(folder, name)))
    if (found.length > 1) throw twoFiles(folder, found)
    if (found[0] !== undefined) return join(folder, found[0])
    if (dirname(folder) === folder) return undefined
  }
}

function checkNamed(file: string, named: string): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats?.isFile()) return file
  throw new ToolError(
    'CONFIG',
    `the configuration ${named} ${stats ? 'is no file' : 'does not exist'}`,
    {
      field: 'config',
      suggestion: stats?.isDirectory()
        ? `Name the file in it: --config ${join(named, CONFIGURATION_NAMES[0])}`
        : 'Give a file that exists, or leave --config out to use the nearest toolable.yaml',
    },
  )
}

// Which of two files counts should not depend on a rule that nobody remembers.
function twoFiles(folder: string, [first, second]: readonly string[]): ToolError {
  return new ToolError(
    'CONFIG',
    `${join(folder, first!)} and ${join(folder, second!)} are both there, and only one can count`,
    {
      suggestion: `Put everything into one of them and remove the other, or name one: --config ${join(folder, first!)}`,
    },
  )
}
