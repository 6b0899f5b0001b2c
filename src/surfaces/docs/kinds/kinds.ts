import type { ToolsetManifest } from '../../../contract/manifest.ts'
import type { DOC_KIND_NAMES } from '../../cli/builtin-commands.ts'
import type { DocModel } from '../model/model.ts'
import { skillName } from '../model/slug.ts'
import type { GeneratedFile } from './generated-file.ts'

export type DocKindName = (typeof DOC_KIND_NAMES)[number]

/** What the documents of one kind are made from. */
export type DocSource = { readonly manifest: ToolsetManifest; readonly model: DocModel }

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
      (await import('./skill/skill.ts'))
        .writeSkill(model)
        .map((file) => ({ ...file, path: `skills/${file.path}` })),
    ownFolder: ({ model }) => `skills/${skillName(model.name)}/references`,
  },
  agents: {
    make: async ({ model }) => (await import('./block.ts')).writeBlock(model, 'AGENTS.md'),
  },
  claude: {
    make: async ({ model }) => (await import('./block.ts')).writeBlock(model, 'CLAUDE.md'),
  },
  command: {
    make: async ({ model }) => (await import('./command.ts')).writeCommands(model),
    // Those of the other tools are not left over when only some are asked for.
    ownFolder: ({ model }) => (model.only ? undefined : '.claude/commands'),
    many: true,
  },
  subagent: { make: async ({ model }) => (await import('./subagent.ts')).writeSubagent(model) },
  llms: { make: async ({ model }) => (await import('./llms.ts')).writeLlms(model) },
  man: { make: async ({ model }) => (await import('./man.ts')).writeMan(model) },
  openapi: {
    make: async ({ manifest, model }) =>
      (await import('./openapi.ts')).writeOpenapi(manifest, model),
  },
  markdown: { make: async ({ model }) => (await import('./markdown.ts')).writeMarkdown(model) },
} as const satisfies { readonly [name in DocKindName]: DocKind }
