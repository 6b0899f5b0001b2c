import { createHash } from 'node:crypto'
import { skillFiles } from '../../docs/generate.ts'
import type { Servable } from '../../../call/servable.ts'

/** A skill about a program: the name of its folder, and the texts of its files by path in that folder, with slashes. */
export type Skill = {
  readonly name: string
  readonly program: string
  readonly files: ReadonlyMap<string, string>
}

/** Writes the skill of a program. */
export async function skillOf(set: Servable): Promise<Skill> {
  const files = await skillFiles(set)
  const name = files[0]!.path.split('/')[0]!
  return {
    name,
    program: set.name,
    files: new Map(files.map(({ path, text }) => [path.slice(name.length + 1), text])),
  }
}

/** What a text holds, in sixteen letters. Line ends do not count, because git changes them on some machines. */
export function digestOfText(text: string): string {
  return createHash('sha256').update(text.replaceAll('\r\n', '\n')).digest('hex').slice(0, 16)
}
