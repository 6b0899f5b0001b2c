/**
 * Generates documents. `DOC_KINDS` lists the kinds; each loads its writer on first use.
 */

import type { DOC_KIND_NAMES } from '../cli/builtin-names.ts'
import type { Servable } from '../core/provider.ts'
import type { ToolsetManifest } from '../protocol/manifest.ts'
import { toSkillName } from './markdown.ts'
import type { DocModel, GeneratedFile } from './model.ts'
import { buildDocModel, pickTools } from './model.ts'

/**
 * The documents of one kind about a toolset, and what they were made from. With `only`, about these
 * of its tools.
 */
export async function generateDocuments(
  set: Servable,
  kind: DocKindName,
  only: readonly string[] = [],
): Promise<{ readonly files: readonly GeneratedFile[]; readonly source: DocSource }> {
  const whole = await set.manifest()
  const source = {
    manifest: only.length === 0 ? whole : { ...whole, tools: pickTools(whole, only) },
    model: buildDocModel(whole, only),
  }
  const { make }: DocKind = DOC_KINDS[kind]
  return { files: await make(source), source }
}

/** The skill of a toolset: `<name>/SKILL.md` first, then what it refers to. */
export async function generateSkillFiles(set: Servable): Promise<readonly GeneratedFile[]> {
  return (await import('./kinds/skill.ts')).writeSkill(buildDocModel(await set.manifest()))
}

/** Everything about a toolset in one page of Markdown. */
export async function generateReferenceText(set: Servable): Promise<string> {
  const [page] = (await import('./kinds/reference.ts')).writeReference(
    buildDocModel(await set.manifest()),
  )
  return page!.text
}

export type DocKindName = (typeof DOC_KIND_NAMES)[number]

/** What the documents of one kind are made from. */
type DocSource = { readonly manifest: ToolsetManifest; readonly model: DocModel }

/** One kind of document. The first file is the main one. */
export type DocKind = {
  readonly make: (source: DocSource) => Promise<readonly GeneratedFile[]>
  /** A folder in which files of this kind may be left over from earlier. */
  readonly ownFolder?: (source: DocSource) => string | undefined
  /** Each file is a main one. */
  readonly many?: true
}

/** Every kind by its name; each loads its writer when it is asked for. */
export const DOC_KINDS = {
  // Where people publish skills from; `skills add` puts them where agents look.
  skill: {
    make: async ({ model }) =>
      (await import('./kinds/skill.ts'))
        .writeSkill(model)
        .map((file) => ({ ...file, path: `skills/${file.path}` })),
    ownFolder: ({ model }) => `skills/${toSkillName(model.name)}/references`,
  },
  agents: {
    make: async ({ model }) =>
      (await import('./kinds/agents-block.ts')).writeAgentsBlock(model, 'AGENTS.md'),
  },
  claude: {
    make: async ({ model }) =>
      (await import('./kinds/agents-block.ts')).writeAgentsBlock(model, 'CLAUDE.md'),
  },
  command: {
    make: async ({ model }) => (await import('./kinds/slash-command.ts')).writeSlashCommands(model),
    // Those of the other tools are not left over when only some are asked for.
    ownFolder: ({ model }) => (model.only ? undefined : '.claude/commands'),
    many: true,
  },
  subagent: {
    make: async ({ model }) => (await import('./kinds/subagent.ts')).writeSubagent(model),
  },
  llms: { make: async ({ model }) => (await import('./kinds/llms.ts')).writeLlms(model) },
  man: { make: async ({ model }) => (await import('./kinds/man.ts')).writeManPage(model) },
  openapi: {
    make: async ({ manifest, model }) =>
      (await import('./kinds/openapi.ts')).writeOpenApi(manifest, model),
  },
  markdown: {
    make: async ({ model }) => (await import('./kinds/reference.ts')).writeReference(model),
  },
} as const satisfies { readonly [name in DocKindName]: DocKind }
