import type { DocExample, DocParameter, DocTool } from '../model/model.ts'
import { toSafeJson } from '../model/safe-json.ts'
import { cutText } from '../model/tidy-text.ts'
import { bullets, fence, jsonBlock, titled } from '../markdown/blocks.ts'
import { code, comment, inline, paragraph, paragraphs } from '../markdown/inline.ts'
import { endSentence, shortToolErrors, toolErrors } from './errors.ts'
import { ruleOf } from './rules.ts'

const SHORT_DESCRIPTION = 90
const MOST_CHOICES = 20
const SHORT_USAGE = 100
const SHORT_OUTPUT = 160

/** Everything about one tool under a heading of that level. */
export function toolSection(tool: DocTool, level: number): string {
  return titled(level, code(tool.command), [
    [endSentence(paragraph(tool.summary)), ruleOf(tool)]
      .filter((part) => part !== undefined)
      .join(' '),
    ...toolDetails(tool, level + 1),
  ])
}

/** Everything about one tool but its name and summary. */
export function toolDetails(tool: DocTool, level: number): string[] {
  const facts = [
    ...(tool.result === undefined ? [] : [`Result: ${code(tool.result)}.`]),
    ...(tool.idempotent && !tool.readOnly
      ? ['Calling it twice does no more than calling it once.']
      : []),
    ...(tool.timeout === undefined ? [] : [`It gives up after ${tool.timeout} s.`]),
  ]
  return [
    tool.description === undefined ? '' : paragraphs(tool.description),
    code(usageLine(tool)),
    bullets(tool.parameters.map(parameterLine)),
    facts.join(' '),
    titled(level, 'Examples', tool.examples.flatMap(exampleBlocks)),
    titled(level, 'Errors', [toolErrors(tool.errors)]),
  ].filter((block) => block !== '')
}

/** One tool in short: parameters without detail, one example, its codes. */
export function shortToolSection(tool: DocTool, level: number, more?: string): string {
  const [example] = tool.examples
  return titled(level, code(usageLine(tool)), [
    [endSentence(paragraph(tool.summary)), ruleOf(tool), more]
      .filter((part) => part !== undefined)
      .join(' '),
    bullets(tool.parameters.map(shortParameterLine)),
    ...(example
      ? [fence('bash', [...exampleLines(example), ...shortOutput(example)].join('\n'))]
      : []),
    shortToolErrors(tool.errors),
  ])
}

/** One tool in one line. */
export function toolLine(tool: DocTool): string {
  return `${code(usageLine({ ...tool, usage: cutText(tool.usage, SHORT_USAGE) }))}: ${inline(tool.summary)}${tool.destructive ? ' (destructive)' : ''}`
}

/** `prog find-files <pattern> [options]`. */
export function usageLine({ command, usage }: DocTool): string {
  return usage === '' ? command : `${command} ${usage}`
}

function exampleBlocks(example: DocExample): string[] {
  const lines = fence(
    'bash',
    [
      ...exampleLines(example),
      ...(example.jsonCommand === undefined ? [] : [example.jsonCommand]),
    ].join('\n'),
  )
  return example.output
    ? [lines, `The ${code('result')} of the answer:`, jsonBlock(example.output.value)]
    : [lines]
}

function exampleLines({ description, command }: DocExample): string[] {
  return [...(description === undefined ? [] : [`# ${comment(description)}`]), command]
}

function shortOutput({ output }: DocExample): string[] {
  const json = output && toSafeJson(output.value)
  return json !== undefined && json.length <= SHORT_OUTPUT ? [`# result: ${json}`] : []
}

function parameterLine(parameter: DocParameter): string {
  const { description, fallback, limits, env } = parameter
  const facts = [
    ...(parameter.required ? ['required'] : []),
    ...(fallback === undefined ? [] : [`default ${code(fallback)}`]),
    ...(limits === undefined ? [] : [inline(limits)]),
    ...(parameter.type === 'any' && parameter.choices
      ? [`one of ${listChoices(parameter.choices)}`]
      : []),
    ...(env === undefined ? [] : [`env ${code(env)}`]),
  ]
  const short = parameter.short === undefined ? '' : `${code(`-${parameter.short}`)}, `
  return `${short}${code(parameter.term)} or ${code(`${parameter.field}: ${parameter.type}`)}${facts.length === 0 ? '' : ` (${facts.join(', ')})`}${description === undefined ? '' : `: ${inline(description)}`}`
}

function shortParameterLine({ term, field, type, required, description }: DocParameter): string {
  return `${code(term)} or ${code(`${field}: ${cutText(type, 40)}`)}${required ? ' (required)' : ''}${description === undefined ? '' : `: ${inline(cutText(description, SHORT_DESCRIPTION))}`}`
}

function listChoices(choices: readonly string[]): string {
  const shown = choices.slice(0, MOST_CHOICES).map(code).join(', ')
  return choices.length > MOST_CHOICES
    ? `${shown} and ${choices.length - MOST_CHOICES} more`
    : shown
}
