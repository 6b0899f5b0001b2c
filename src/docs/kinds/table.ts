/**
 * The table of kinds of generated documents.
 *
 * A new kind is one file in this folder that exports `kind`, and one line in this table. The
 * choices of `docs`, help and completion follow from the table.
 */

import type { DocKind } from '../model.ts'

export const DOC_KINDS = {
  skill: () => import('./skill.ts'),
  agents: () => import('./agents-block.ts'),
  claude: async () => ({ kind: (await import('./agents-block.ts')).claudeKind }),
  command: () => import('./slash-command.ts'),
  subagent: () => import('./subagent.ts'),
  llms: () => import('./llms.ts'),
  man: () => import('./man.ts'),
  openapi: () => import('./openapi.ts'),
  markdown: () => import('./reference.ts'),
} as const satisfies { readonly [name: string]: () => Promise<{ readonly kind: DocKind }> }

export type DocKindName = keyof typeof DOC_KINDS

/** The kinds of documents that a program can generate about itself. */
export const DOC_KIND_NAMES = Object.keys(DOC_KINDS) as readonly DocKindName[]
