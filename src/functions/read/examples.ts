import type ts from 'typescript'
import type { Example } from '../../contract/manifest.ts'
import { inputFromWords } from '../../define/argv/input-from-words.ts'
import { compileSchema } from '../../define/schema/compile.ts'
import { describeIssues } from '../../define/schema/issues.ts'
import { lookupKey } from '../../define/names.ts'
import type { FunctionManifest, FunctionParameter } from '../manifest.ts'
import { literalValue } from './literal-value.ts'
import { splitWords } from './split-words.ts'
import type { Compiler } from './types/work.ts'

type Subject = Pick<
  FunctionManifest,
  'name' | 'export' | 'input' | 'positional' | 'flags' | 'parameters'
>

/** What the examples of a comment are worth: inputs that the tool takes, and what is wrong with the others. */
export type ReadExamples = {
  readonly examples: readonly Example[]
  readonly problems: readonly string[]
}

/** Reads examples: a command line, or a call in code. Code that is no plain call of the function is documentation and nothing else. */
export async function readExamples(
  ts: Compiler,
  checker: ts.TypeChecker,
  subject: Subject,
  written: readonly string[],
): Promise<ReadExamples> {
  const schema = compileSchema(subject.input, 'input')
  const examples: Example[] = []
  const problems: string[] = []
  for (const text of written) {
    const { caption, language, code } = takeApart(text)
    try {
      const input = isCommand(language, code, subject)
        ? readCommand(subject, code)
        : readCall(ts, checker, subject, code)
      if (!input) continue
      const checked = await schema.check(input)
      if (checked.ok) examples.push({ ...(caption !== '' && { description: caption }), input })
      else
        problems.push(
          `the example '${firstLine(code)}' does not fit: ${describeIssues(checked.issues)}`,
        )
    } catch (error) {
      problems.push(`the example '${firstLine(code)}' cannot be read: ${(error as Error).message}`)
    }
  }
  return { examples, problems }
}

function takeApart(text: string): {
  readonly caption: string
  readonly language: string
  readonly code: string
} {
  const fenced = /^([\s\S]*?)```([\w-]*)[^\n]*\n([\s\S]*?)```/.exec(text)
  if (fenced) return { caption: oneLine(fenced[1]!), language: fenced[2]!, code: fenced[3]!.trim() }
  const captioned = /^<caption>([\s\S]*?)<\/caption>\s*([\s\S]*)$/.exec(text)
  const code = (captioned ? captioned[2]! : text).trim()
  const comment = /^\/\/\s*(.+?):?\n([\s\S]+)$/.exec(code)
  return {
    caption: oneLine(captioned?.[1] ?? comment?.[1] ?? ''),
    language: '',
    code: comment ? comment[2]!.trim() : code,
  }
}

function isCommand(language: string, code: string, { name }: Subject): boolean {
  if (/^(sh|bash|shell|console|zsh|terminal)$/.test(language)) return true
  if (language !== '') return false
  const [first = ''] = code.replace(/^\$\s*/, '').split(/\s/, 1)
  return lookupKey(first) === lookupKey(name) || /^(npx|toolable|\.{1,2}\/)/.test(first)
}

// `toolable ./tools.ts find-files '*.ts'`: what stands behind the name of the tool.
function readCommand(subject: Subject, code: string): { readonly [field: string]: unknown } {
  const words = splitWords(firstLine(code).replace(/^\$\s*/, ''))
  const at = words.findIndex((word) => lookupKey(word) === lookupKey(subject.name))
  const args = at === -1 ? words.slice(1) : words.slice(at + 1)
  return {
    ...inputFromWords(
      { inputSchema: subject.input, flags: subject.flags, positional: subject.positional },
      args,
      {},
    ),
  }
}

function readCall(
  ts: Compiler,
  checker: ts.TypeChecker,
  subject: Subject,
  code: string,
): { readonly [field: string]: unknown } | undefined {
  const file = ts.createSourceFile('example.ts', code, ts.ScriptTarget.Latest, true)
  const call = findCall(ts, file, subject.export.split('.').at(-1)!)
  const values = call?.arguments.map((argument) => literalValue(ts, checker, argument))
  return values?.every((value) => value !== undefined)
    ? toInput(
        subject.parameters,
        values.map(({ value }) => value),
      )
    : undefined
}

function findCall(ts: Compiler, node: ts.Node, name: string): ts.CallExpression | undefined {
  if (ts.isCallExpression(node) && node.expression.getText().split('.').at(-1) === name) return node
  return ts.forEachChild(node, (child) => findCall(ts, child, name))
}

function toInput(
  parameters: readonly FunctionParameter[],
  values: readonly unknown[],
): { readonly [field: string]: unknown } | undefined {
  const input: { [field: string]: unknown } = {}
  for (const [index, parameter] of parameters.entries()) {
    const value = values[index]
    if (value === undefined && index >= values.length) break
    if (parameter.from === 'field') input[parameter.field] = value
    else if (parameter.from === 'rest') input[parameter.field] = values.slice(index)
    else if (parameter.from === 'fields')
      for (const { property, field } of parameter.fields)
        if (Object.hasOwn(Object(value) as object, property))
          input[field] = (value as { readonly [key: string]: unknown })[property]
  }
  return input
}

function firstLine(code: string): string {
  return (
    code
      .split('\n')
      .map((line) => line.trim())
      .find((line) => line !== '' && !line.startsWith('#')) ?? ''
  )
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replace(/:$/, '')
}
