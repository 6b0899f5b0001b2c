import type { DocExample, DocParameter, DocTool } from '../model/model.ts'
import { toSafeJson } from '../model/safe-json.ts'
import { endSentence } from '../sections/errors.ts'
import { usageLine } from '../sections/tool.ts'
import { item, paragraphs } from './parts.ts'
import { argument, roffCode, roffLines } from './roff.ts'

/** One command of the manual page. `single`: its name and summary stand above already. */
export function toolLines(tool: DocTool, single: boolean): string[] {
  return [
    ...(single ? [] : [`.SS ${argument(usageLine(tool))}`, roffLines(tool.summary)]),
    ...(tool.description === undefined ? [] : paragraphs(tool.description)),
    ...(tool.destructive
      ? ['.PP', roffLines('Destructive: asks before it acts; --yes answers beforehand.')]
      : []),
    ...tool.parameters.flatMap((parameter) =>
      item(
        parameter.short === undefined ? parameter.term : `-${parameter.short}, ${parameter.term}`,
        parameterText(parameter),
      ),
    ),
    ...(tool.result === undefined ? [] : ['.PP', roffLines(`Result: ${tool.result}`)]),
    ...tool.examples.flatMap(exampleLines),
    ...(tool.errors.length === 0
      ? []
      : [
          '.PP',
          'Errors:',
          ...tool.errors.flatMap((error) =>
            item(
              error.code,
              `${endSentence(error.message)} ${endSentence(error.advice)} [exit ${error.exit}]`,
            ),
          ),
        ]),
  ]
}

function parameterText({
  description,
  required,
  type,
  fallback,
  limits,
  env,
}: DocParameter): string {
  const facts = [
    type,
    ...(required ? ['required'] : []),
    ...(fallback === undefined ? [] : [`default ${fallback}`]),
    ...(limits === undefined ? [] : [limits]),
    ...(env === undefined ? [] : [`environment ${env}`]),
  ]
  return `${description === undefined ? '' : `${endSentence(description)} `}[${facts.join('; ')}]`
}

function exampleLines({ description, command, output }: DocExample): string[] {
  const text = [command, ...(output ? [toSafeJson(output.value, 2)] : [])].join('\n')
  return [
    '.PP',
    roffLines(description === undefined ? 'Example:' : `${description.replace(/[.:]$/, '')}:`),
    '.PP',
    '.RS 4',
    '.EX',
    roffCode(text),
    '.EE',
    '.RE',
  ]
}
