import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'

/** The file that a program name means on that PATH, or undefined. A name with a slash is a path. */
export function findProgram(name: string, path: string | undefined, cwd = '/'): string | undefined {
  if (name.includes('/')) return isExecutable(resolve(cwd, name)) ? resolve(cwd, name) : undefined
  return (path ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => join(folder, name))
    .find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
