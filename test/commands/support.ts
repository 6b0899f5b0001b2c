import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fixture, makeFolder, runProgram, startProgram } from '../support/run-program.ts'
import type { Ended, Running, RunOptions } from '../support/run-program.ts'
import { TOOLABLE } from '../support/toolable-program.ts'

/** A project with tools from two modules, two of one name. */
export const project = fixture('commands/project')

/** Runs the command `toolable`, in the project where no other directory is named. */
export function toolable(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  return runProgram(TOOLABLE, args, { cwd: project, ...options })
}

/** Starts it and lets the test talk to it. */
export function startToolable(args: readonly string[], options: RunOptions = {}): Running {
  return startProgram(TOOLABLE, args, { cwd: project, ...options })
}

/** A new folder with these files in it. */
export function folderWith(files: { readonly [path: string]: string }): string {
  const folder = makeFolder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}
