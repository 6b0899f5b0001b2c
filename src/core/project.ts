import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The names of a configuration; a folder with one of them is a project. */
export const CONFIG_FILE_NAMES = ['toolable.yaml', 'toolable.yml', 'toolable.json'] as const

/** The nearest folder with a configuration, upwards from one; undefined where there is none. */
export function findProjectFolder(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (CONFIG_FILE_NAMES.some((name) => existsSync(join(folder, name)))) return folder
    if (dirname(folder) === folder) return undefined
  }
}
