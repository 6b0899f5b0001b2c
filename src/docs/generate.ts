/** Generates documents about a toolset. */

import type { Servable } from '../core/provider.ts'
import type { DocKindName } from './kinds/table.ts'
import { DOC_KINDS } from './kinds/table.ts'
import type { DocKind, DocSource, GeneratedFile } from './model.ts'
import { buildDocModel, pickTools } from './model.ts'

/** The documents of one kind about a toolset, or with `only` about these of its tools. */
export async function generateDocuments(
  set: Servable,
  name: DocKindName,
  only: readonly string[] = [],
): Promise<{
  readonly files: readonly GeneratedFile[]
  readonly kind: DocKind
  readonly source: DocSource
}> {
  const whole = await set.manifest()
  const { kind } = await DOC_KINDS[name]()
  const source = {
    manifest: only.length === 0 ? whole : { ...whole, tools: pickTools(whole, only) },
    model: buildDocModel(whole, only),
  }
  return { files: kind.make(source), kind, source }
}

/** The skill of a toolset: `<name>/SKILL.md` first, then what it refers to. */
export async function generateSkillFiles(set: Servable): Promise<readonly GeneratedFile[]> {
  return (await import('./kinds/skill.ts')).writeSkill(buildDocModel(await set.manifest()))
}

/** Everything about a toolset in one page of Markdown. */
export async function generateReferenceText(set: Servable): Promise<string> {
  const { files } = await generateDocuments(set, 'markdown')
  return files[0]!.text
}
