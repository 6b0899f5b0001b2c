import { checkOptions } from '../../define/names.ts'
import type { BuiltStepOptions, EachOptions, ToolStepOptions } from './builder-type.ts'
import { expressionOf } from './ref.ts'

type AnyOptions = BuiltStepOptions &
  Pick<ToolStepOptions, 'permissions'> &
  Pick<EachOptions, 'maxConcurrency' | 'as'>

const COMMON = [
  'when',
  'retry',
  'timeout',
  'onError',
  'compensate',
] as const satisfies readonly (keyof BuiltStepOptions)[]

/** The options of a step as its definition says them, without what takes it back. Throws CONFIG for an option that does not exist. */
export function writeOptions(
  what: string,
  options: AnyOptions,
  more: readonly string[] = [],
): { readonly [key: string]: unknown } {
  checkOptions(what, options, [...COMMON, ...more])
  const { when, retry, timeout, onError, permissions, maxConcurrency } = options
  const condition = expressionOf(when)
  return {
    ...(when !== undefined && { when: condition === undefined ? when : `\${{ ${condition} }}` }),
    ...(retry !== undefined && { retry }),
    ...(timeout !== undefined && { timeout }),
    ...(onError !== undefined && { on_error: onError }),
    ...(permissions !== undefined && { permissions }),
    ...(maxConcurrency !== undefined && { max_concurrency: maxConcurrency }),
  }
}

/** What options of a question are about the step, and what is about the question. */
export function splitOptions<Options extends BuiltStepOptions>(
  options: Options,
): { readonly about: BuiltStepOptions; readonly rest: Omit<Options, keyof BuiltStepOptions> } {
  const isCommon = ([key]: readonly [string, unknown]): boolean =>
    (COMMON as readonly string[]).includes(key)
  const entries = Object.entries(options)
  return {
    about: Object.fromEntries(entries.filter(isCommon)),
    rest: Object.fromEntries(entries.filter((entry) => !isCommon(entry))) as Omit<
      Options,
      keyof BuiltStepOptions
    >,
  }
}
