import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Surroundings } from './agents/agent.ts'

/** The path of a program that the shell would find by its name; undefined when there is none. `within` leaves out folders of the PATH. */
export function findProgram(
  name: string,
  { env, platform }: Pick<Surroundings, 'env' | 'platform'>,
  within: (folder: string) => boolean = () => true,
): string | undefined {
  const endings =
    platform === 'win32' ? ['', ...(env['PATHEXT'] ?? '.EXE;.CMD;.BAT').split(';')] : ['']
  const folders = (env['PATH'] ?? env['Path'] ?? '')
    .split(delimiter)
    .filter((folder) => folder !== '' && within(folder))
  return folders
    .flatMap((folder) => endings.map((ending) => join(folder, name + ending)))
    .find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
