/**
 * `docs <kind>`: prints, writes or checks generated documents about a program.
 *
 * The `docs` folder reads a manifest into a model (`model.ts`) and writes it as documents.
 * Each kind is one file in `kinds/`, listed in `kinds/table.ts` and built from `sections.ts` and
 * `markdown.ts`. `check-files.ts` and `write-files.ts` compare documents with the disk.
 */

import { resolve } from 'node:path'
import { printText } from '../cli/documents.ts'
import type { BuiltinContext, BuiltinFactory } from '../cli/types.ts'
import type { Servable } from '../core/provider.ts'
import { tool } from '../core/tool.ts'
import { ToolError } from '../protocol/tool-error.ts'
import { quoteForShell } from '../util/text.ts'
import { compact } from '../util/values.ts'
import { generateDocuments } from './generate.ts'
import type { DocKindName } from './kinds/table.ts'
import { DOC_KIND_NAMES } from './kinds/table.ts'
import { getRenewCommand } from './model.ts'

type DocsInput = {
  readonly kind: DocKindName
  readonly out?: string
  readonly write?: boolean
  readonly check?: boolean
  readonly force?: boolean
  readonly tool?: readonly string[]
}

/** `docs <kind>`: prints, writes or checks documents about the program. */
export const docsCommands: BuiltinFactory = (set) => [
  {
    path: ['docs'],
    tool: tool({
      name: 'docs',
      summary: 'Print, write or check documents about this program',
      description: [
        'skill: SKILL.md with references; agents and claude: a block in AGENTS.md or CLAUDE.md; command and subagent: .claude/commands and .claude/agents; llms: llms.txt and llms-full.txt; man: a manual page; openapi: the HTTP API; markdown: one page of reference.',
        'Without --write, --out or --check the main document is printed as it is.',
      ].join('\n'),
      input: {
        type: 'object',
        properties: {
          kind: { type: 'string', enum: DOC_KIND_NAMES, description: 'What to make' },
          write: {
            type: 'boolean',
            default: false,
            description: 'Write the files to their places',
          },
          out: {
            type: 'string',
            format: 'path',
            description:
              'Folder to write to or to check; default: the current one. Without --check it implies --write',
          },
          check: {
            type: 'boolean',
            default: false,
            description: 'Fail when a file on disk is missing or stale; write nothing',
          },
          force: {
            type: 'boolean',
            default: false,
            description: 'Replace files that somebody else has written',
          },
          tool: {
            type: 'array',
            items: { type: 'string' },
            description: 'Only this tool; may be repeated',
          },
        },
        required: ['kind'],
        additionalProperties: false,
      },
      positional: ['kind'],
      annotations: { idempotent: true },
      dryRun: true,
      examples: [
        { description: 'Look at the skill', args: ['skill'] },
        { description: 'Write it to skills/', args: ['skill', '--write'] },
        { description: 'In CI: fail when AGENTS.md is stale', args: ['agents', '--check'] },
      ],
      run: (input, ctx) => answerDocs(set, input as DocsInput, ctx),
    }),
    start: (input, context) => printMainDocument(input as DocsInput, context),
  },
]

// A document is printed as it is, in a pipe too, unless the form of an answer is asked for.
async function printMainDocument(
  { kind, tool: only, write, out, check }: DocsInput,
  { set, io, globals }: BuiltinContext,
): Promise<number | undefined> {
  if (
    write ||
    check ||
    out !== undefined ||
    (globals.output !== undefined && globals.output !== 'text')
  )
    return undefined
  const { files, kind: made } = await generateDocuments(set, kind, only)
  const shown =
    made.many && files.length > 1
      ? files.map(({ path, text }) => `==> ${path} <==\n${text}`).join('\n')
      : (files[0]?.text ?? '')
  return printText(io, shown)
}

type DocsContext = {
  readonly cwd: string
  readonly dryRun: boolean
  readonly signal: AbortSignal
  plan(action: string, target: string): void
}

async function answerDocs(
  set: Servable,
  { kind, out, write, check, force, tool: only }: DocsInput,
  ctx: DocsContext,
): Promise<readonly object[]> {
  if (write && check)
    throw new ToolError('USAGE', '--check writes nothing, so it cannot stand beside --write', {
      suggestion: 'Leave one of them out',
    })
  const { files, kind: made, source } = await generateDocuments(set, kind, only)
  if (!write && !check && out === undefined) return files.map(({ path, text }) => ({ path, text }))
  const place = compact({
    root: resolve(ctx.cwd, out ?? '.'),
    program: set.name,
    kind,
    ownFolder: made.ownFolder?.(source),
  })
  if (check) {
    const mend = `${getRenewCommand(source.model, kind)}${out === undefined ? '' : ` --out ${quoteForShell(out)}`}`
    await (await import('./check-files.ts')).checkDocuments(files, place, mend)
    return files.map(({ path }) => ({ path, state: 'current' }))
  }
  const { writeDocuments } = await import('./write-files.ts')
  return writeDocuments(files, place, {
    force,
    dryRun: ctx.dryRun,
    signal: ctx.signal,
    onChange: (action, path) => ctx.plan(action, path),
  })
}
