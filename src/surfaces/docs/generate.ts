import type { Servable } from '../../call/servable.ts'
import type { GeneratedFile } from './kinds/generated-file.ts'
import { DOC_KINDS } from './kinds/kinds.ts'
import type { DocKind, DocKindName, DocSource } from './kinds/kinds.ts'
import { pickTools, readProgram } from './model/read-program.ts'

/** The documents of one kind about a toolset, and what they were made from. With `only`, about these of its tools. */
export async function generate(
  set: Servable,
  kind: DocKindName,
  only: readonly string[] = [],
): Promise<{ readonly files: readonly GeneratedFile[]; readonly source: DocSource }> {
  const whole = await set.manifest()
  const source = {
    manifest: only.length === 0 ? whole : { ...whole, tools: pickTools(whole, only) },
    model: readProgram(whole, only),
  }
  const { make }: DocKind = DOC_KINDS[kind]
  return { files: await make(source), source }
}

/** The skill of a toolset: `<name>/SKILL.md` first, then what it refers to. */
export async function skillFiles(set: Servable): Promise<readonly GeneratedFile[]> {
  return (await import('./kinds/skill/skill.ts')).writeSkill(readProgram(await set.manifest()))
}

/** Everything about a toolset in one page of Markdown. */
export async function documentationText(set: Servable): Promise<string> {
  const [page] = (await import('./kinds/markdown.ts')).writeMarkdown(
    readProgram(await set.manifest()),
  )
  return page!.text
}
