import { createPaint } from '../../surfaces/cli/output/color.ts'
import type { Paint } from '../../surfaces/cli/output/color.ts'
import type { RenderResult } from '../../surfaces/cli/output/format-options.ts'
import { cleanLine } from '../../surfaces/cli/output/text/clean.ts'
import { isOver } from '../../contract/run-state.ts'
import { answerCommand } from '../../views/terminal/layout/questions.ts'
import { listSteps } from '../plan/plan-text.ts'
import { paintState } from './paint-state.ts'
import type { ShownRun } from './shown-run.ts'
import type { ShownStep } from '../../workflow/run/read-workflow-run.ts'

/** One run for a person, a fact a line, and the command that goes on where there is one. */
export const renderRun: RenderResult = (result, { color }) => {
  const paint = createPaint(color)
  const run = result as ShownRun
  const facts: readonly (readonly [name: string, value: string | undefined])[] = [
    ['state', `${paintState(run.state, paint)}${run.rc === undefined ? '' : ` (exit ${run.rc})`}`],
    ['attempt', run.attempt > 1 ? String(run.attempt) : undefined],
    ['level', run.level],
    ['caller', run.caller],
    ['created', run.created],
    ['started', run.started],
    [
      'ended',
      run.ended && `${run.ended}${run.duration_s === undefined ? '' : ` (${run.duration_s} s)`}`,
    ],
    [
      'progress',
      run.progress &&
        [
          run.progress.percent === undefined ? undefined : `${run.progress.percent}%`,
          run.progress.step,
          run.progress.message,
        ]
          .filter((part) => part !== undefined)
          .join(' '),
    ],
    ['last', isOver(run.state) ? undefined : run.last && `${run.last.type} ${run.last.text}`],
    [
      'error',
      run.error &&
        [
          run.error.code,
          run.error.step &&
            `in step ${run.error.step}${run.error.message === undefined ? '' : ':'}`,
          run.error.message,
          run.error.hint && `(${run.error.hint})`,
        ]
          .filter((part) => part !== undefined)
          .join(' '),
    ],
    ['result', run.result === undefined ? undefined : JSON.stringify(run.result)],
    [
      'artifacts',
      run.artifacts && run.artifacts.map((artifact) => JSON.stringify(artifact)).join(', '),
    ],
    ['parent', run.parent && `${run.parent.run_id}, step ${run.parent.step}`],
    [
      'events',
      `${run.events}${run.diagnostics === undefined ? '' : `, ${run.diagnostics} diagnostics`}${run.warnings === undefined ? '' : `, ${run.warnings} warnings`}`,
    ],
    ['folder', run.folder],
  ]
  const known = facts.filter(
    (fact): fact is [string, string] => fact[1] !== undefined && fact[1] !== '',
  )
  return [
    `${paint('bold', run.run_id)} ${cleanLine([run.tool, ...run.args].join(' '))}`,
    ...known.map(
      ([name, value]) => `  ${name.padEnd(9)} ${name === 'state' ? value : cleanLine(value)}`,
    ),
    ...(run.plan
      ? [
          `  plan      ${cleanLine(run.plan.objective)}`,
          ...listSteps(run.plan, paint).map((line) => `          ${line}`),
        ]
      : []),
    ...(run.steps ?? []).map((step) => `  step      ${stepLine(step, paint)}`),
    ...(run.more_steps === undefined
      ? []
      : [paint('dim', `  step      and ${run.more_steps} more: toolable runs logs ${run.run_id}`)]),
    ...run.questions.flatMap((question) => [
      `  asks      ${cleanLine(question.prompt ?? '')}`,
      paint(
        'dim',
        `  answer    ${cleanLine(answerCommand(run.run_id, question, run.questions.length > 1))}`,
      ),
    ]),
    ...(run.go_on === undefined ? [] : [paint('dim', `  go on     ${run.go_on}`)]),
  ]
    .map((line) => `${line}\n`)
    .join('')
}

function stepLine(
  { step, state, kind, tries = 1, duration_s, run_id, error }: ShownStep,
  paint: Paint,
): string {
  const facts = [
    kind,
    tries > 1 && `try ${tries}`,
    duration_s !== undefined && `${duration_s} s`,
    run_id,
    error,
  ].filter((fact) => fact !== undefined && fact !== false)
  return `${state === 'failed' ? paint('red', state) : state === 'ok' ? paint('green', state) : paint('yellow', state)}${' '.repeat(Math.max(1, 12 - state.length))}${cleanLine(`${'  '.repeat(step.split('/').length - 1)}${step}${facts.length > 0 ? ` (${facts.join(', ')})` : ''}`)}`
}
