import type { Context } from '../../contract/context.ts'
import { isObject } from '../../contract/json.ts'

/** Tells whoever called a workflow how it goes: gets the lines of its record as they are written. */
export function tellCaller({ progress }: Pick<Context, 'progress'>): (lines: string) => void {
  return (lines) => {
    for (const line of lines.trimEnd().split('\n')) {
      const event: unknown = JSON.parse(line)
      const told = isObject(event) ? messageOf(event) : undefined
      if (told) progress(told.message, told.percent)
    }
  }
}

type Told = { readonly message: string; readonly percent?: number }

function messageOf(event: { readonly [field: string]: unknown }): Told | undefined {
  const { type, task_id: task, child_event: child } = event
  if (type === 'progress') return wordsOf(event)
  // Of steps at the top the progress of the whole tells enough.
  if (type === 'task_done' && String(task).includes('/'))
    return { message: `${String(task)} ${event['status'] === 'ok' ? 'is done' : 'failed'}` }
  // How far one task is says nothing about the whole.
  const words = type === 'task_progress' && isObject(child) ? wordsOf(child) : undefined
  return words && { message: `${String(task)}: ${words.message}` }
}

function wordsOf({
  msg,
  message,
  step,
  pct,
  percent,
}: {
  readonly [field: string]: unknown
}): Told | undefined {
  const text = [msg, message, step].find((word) => typeof word === 'string' && word !== '')
  const share = [pct, percent].find((number) => typeof number === 'number')
  return text === undefined
    ? undefined
    : { message: String(text), ...(typeof share === 'number' && { percent: share }) }
}
