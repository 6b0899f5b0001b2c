import type { ToolsetManifest } from '../../../contract/manifest.ts'
import { INJECTED_FLAGS, PROGRAM_FLAGS } from '../../../define/flags/injected.ts'
import { BUILTIN_COMMANDS } from '../builtin-commands.ts'
import { isInside } from '../command-path.ts'
import { commandSections } from './commands.ts'
import { compactProgram } from './compact.ts'
import { contentSections } from './contents.ts'
import { exampleLines } from './examples.ts'
import type { ToolExample } from './examples.ts'
import { exitCodeText } from './exit-codes.ts'
import { columns, createPage, headline, joinSections, paragraph, titled } from './layout.ts'
import type { HelpOptions } from './layout.ts'
import { injectedRows } from './options.ts'

// What people look for on the first page; the help of a command shows all of them.
const FIRST_PAGE_FLAGS = [
  'output',
  'json',
  'dry-run',
  'yes',
  'timeout',
  'quiet',
  'verbose',
  'no-color',
]
const EXAMPLES = 3

/** The help of a program with several tools. */
export function renderProgramHelp(manifest: ToolsetManifest, options: HelpOptions): string {
  if (options.compact) return compactProgram(manifest)
  const page = createPage(options)
  const { name } = manifest
  return joinSections([
    headline(page, name, manifest.version, manifest.description),
    titled(page, 'Usage', [`${name} <command> [arguments] [options]`, `${name} <command> --help`]),
    titled(page, 'Examples', exampleLines(page, manifest, firstExamples(manifest), false)),
    ...commandSections(page, manifest),
    ...contentSections(page, manifest),
    titled(
      page,
      'Options of every command',
      columns(
        page,
        injectedRows(INJECTED_FLAGS.filter((flag) => FIRST_PAGE_FLAGS.includes(flag.long))),
      ),
    ),
    titled(page, 'Options of the program', columns(page, injectedRows(PROGRAM_FLAGS))),
    titled(page, 'More commands', columns(page, builtinRows(manifest))),
    titled(
      page,
      'For agents',
      columns(page, [
        { term: `${name} --discover`, text: 'every tool, resource and prompt, as JSON' },
        {
          term: `${name} <command> '{"field":"value"}'`,
          text: 'input as one JSON object; the answer is JSON where stdout is not a terminal',
        },
        { term: `${name} <command> --schema`, text: 'input and output of one tool' },
      ]),
    ),
    titled(page, 'Exit codes', paragraph(page, exitCodeText(), 2)),
  ])
}

function firstExamples(manifest: ToolsetManifest): ToolExample[] {
  return manifest.tools
    .flatMap((tool) => {
      const example = tool.examples.find(({ input, args }) => input ?? args)
      return example ? [{ tool, example }] : []
    })
    .slice(0, EXAMPLES)
}

function builtinRows(manifest: ToolsetManifest): { term: string; text: string }[] {
  return BUILTIN_COMMANDS.filter(
    ({ name }) => !manifest.tools.some((tool) => isInside(tool, [name])),
  ).map(({ name, words, summary }) => ({ term: `${name} ${words.join('|')}`, text: summary }))
}
