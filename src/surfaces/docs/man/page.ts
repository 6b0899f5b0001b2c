import { EXIT_STATUSES } from '../../../contract/exit-statuses.ts'
import { ERROR_TABLE } from '../../../contract/errors.ts'
import { INJECTED_FLAGS, PROGRAM_FLAGS } from '../../../define/flags/injected.ts'
import { promptSignature } from '../../cli/help/contents.ts'
import { injectedRows } from '../../cli/help/options.ts'
import { markText } from '../mark.ts'
import type { DocModel, DocTool } from '../model/model.ts'
import { cutText, tidyLine } from '../model/tidy-text.ts'
import { anyCommand } from '../sections/calling.ts'
import { allCodes, endSentence, exitWords } from '../sections/errors.ts'
import { usageLine } from '../sections/tool.ts'
import { item, paragraphs } from './parts.ts'
import { argument, fallbacks, roffLines, roffText } from './roff.ts'
import { toolLines } from './tool.ts'

// What `whatis` and `apropos` show.
const LONGEST_NAME = 160

/** The manual page of a program, section 1. It has no date, so that the same program gives the same page. */
export function manPage(model: DocModel): string {
  const { name, version, tools, resources, prompts } = model
  const body = [
    `.TH ${argument(name.toUpperCase())} "1" "" ${argument(`${name} ${version}`)} "User Commands"`,
    // Neither hyphens nor wide gaps: words of a command line have to stay what they are.
    '.nr HY 0',
    '.nh',
    '.ad l',
    ...section('NAME', [`${roffText(name)} \\- ${roffText(nameLine(model))}`]),
    ...section('SYNOPSIS', synopsis(model)),
    ...section('DESCRIPTION', [
      ...paragraphs(model.description ?? nameLine(model)),
      ...calling(model),
    ]),
    ...section(
      model.single ? 'ARGUMENTS' : 'COMMANDS',
      tools.flatMap((tool) => toolLines(tool, model.single)),
    ),
    ...section(
      'RESOURCES',
      resources.flatMap(({ uri, summary }) => item(uri, summary)),
    ),
    ...section(
      'PROMPTS',
      prompts.flatMap((prompt) => item(tidyLine(promptSignature(prompt)), prompt.summary)),
    ),
    ...section(
      'OPTIONS OF EVERY COMMAND',
      injectedRows(INJECTED_FLAGS).flatMap((row) =>
        item(row.term.trim(), [row.text, ...(row.notes ?? [])].join(' ')),
      ),
    ),
    ...section(
      'OPTIONS OF THE PROGRAM',
      injectedRows(PROGRAM_FLAGS).flatMap((row) => item(row.term.trim(), row.text)),
    ),
    ...section('ENVIRONMENT', environment(tools)),
    ...section(
      'EXIT STATUS',
      EXIT_STATUSES.flatMap(({ status, meaning }) => item(String(status), meaning)),
    ),
    ...section(
      'ERRORS',
      allCodes().flatMap((code) =>
        item(
          code,
          `${endSentence(ERROR_TABLE[code].meaning)} ${endSentence(ERROR_TABLE[code].advice)} [exit ${exitWords(code)}]`,
        ),
      ),
    ),
  ].join('\n')
  return [`.\\" ${markText(model, 'man')}`, ...fallbacks(body), body, ''].join('\n')
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SH ${argument(title)}`, ...lines]
}

function nameLine({ description, single, tools, name }: DocModel): string {
  return cutText(
    tidyLine(description ?? (single && tools[0] ? tools[0].summary : `commands of ${name}`)),
    LONGEST_NAME,
  )
}

function synopsis(model: DocModel): string[] {
  const lines =
    model.single && model.tools[0]
      ? [usageLine(model.tools[0])]
      : [`${model.name} <command> [arguments] [options]`, `${model.name} <command> --help`]
  return [...lines, `${anyCommand(model)} '<json>' | - | @input.json`].flatMap((line, index) => [
    ...(index === 0 ? [] : ['.br']),
    roffLines(line),
  ])
}

function calling(model: DocModel): string[] {
  return [
    '.PP',
    roffLines(
      `The input is given in flags, or as one JSON object; - reads it from stdin. In a pipe, or with --json, the answer is one JSON document: {"ok":true,"status":"success","result":...} or {"ok":false,"status":"error","error":{...}}.`,
    ),
    ...(model.tools.some((tool) => tool.destructive)
      ? [
          '.PP',
          roffLines(
            'Destructive commands ask before they act. --dry-run says what would be done, --yes answers beforehand.',
          ),
        ]
      : []),
  ]
}

function environment(tools: readonly DocTool[]): string[] {
  const own = new Map(
    tools.flatMap((tool) =>
      tool.parameters.flatMap((parameter) =>
        parameter.env === undefined
          ? []
          : [[parameter.env, parameter.description ?? parameter.term] as const],
      ),
    ),
  )
  return [
    ...[...own].flatMap(([name, text]) => item(name, text)),
    ...item('TOOLABLE_OUTPUT', 'How to print results where no flag says it'),
    ...item('NO_COLOR', 'No colours'),
  ]
}
