import type { Io } from '../../contract/io.ts'
import { ToolError } from '../../contract/tool-error.ts'
import type { Globals } from '../../surfaces/cli/argv/globals.ts'
import { openLiveTree } from '../../views/terminal/live-tree.ts'
import type { LiveTree } from '../../views/terminal/live-tree.ts'
import type { Look } from '../../views/terminal/look.ts'
import { PERSON } from '../run/person.ts'
import { openLook } from './open-look.ts'
import { readTail } from './read-tail.ts'

export type TreeWishes = {
  /** The folder of the runs. */ readonly root: string
  readonly named: boolean
  readonly answersHere: boolean
}

/** A live tree on the terminal of this process. Loaded only where one is drawn. */
export async function openTree(
  { root, named, answersHere }: TreeWishes,
  io: Io,
  globals: Globals,
): Promise<LiveTree & { readonly look: Look }> {
  const screen = await io.screen?.()
  if (!screen) throw new ToolError('INTERNAL', 'there is no terminal to draw on')
  const look = openLook(io, globals)
  const tree = openLiveTree({
    io,
    screen,
    look,
    named,
    answersHere,
    quiet: globals.quiet === true,
    verbose: (globals.verbose ?? 0) > 0,
    person: PERSON,
    readTail: (run) => readTail(root, run, io.cwd),
  })
  return { ...tree, look }
}
