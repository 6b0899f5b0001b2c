import { useState } from 'preact/hooks'
import { formatDuration } from '../../../../../src/views/model/format.ts'
import type { RunModel, StepModel } from '../../../../../src/views/model/run-model.ts'
import { Bar, RunLink } from '../../../parts/run-cells.tsx'
import { StateBadge } from '../../../parts/state-badge.tsx'
import { Since, Took } from '../../../parts/time.tsx'
import { selectStep } from '../live/selection.ts'
import type { LiveRun } from '../live/use-run.ts'

const AT_FIRST = 100

/** The steps of a run in a table. */
export function StepsTab({
  run: { model },
  isSelected,
}: {
  readonly run: LiveRun
  isSelected(key: string): boolean
}) {
  const [all, setAll] = useState(false)
  const steps = all ? model.steps : model.steps.slice(0, AT_FIRST)
  return (
    <div class="scroll-x">
      <table aria-label="Steps">
        <thead>
          <tr>
            <th>State</th>
            <th>Step</th>
            <th>Kind</th>
            <th class="right">Tries</th>
            <th class="right">Began after</th>
            <th class="right">Took</th>
            <th>Run</th>
            <th class="wide">Last message</th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step) => (
            <StepRow key={step.key} step={step} model={model} selected={isSelected(step.key)} />
          ))}
        </tbody>
      </table>
      {model.steps.length > steps.length && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          {model.steps.length - steps.length} more steps
        </button>
      )}
      {model.more_steps > 0 && <p class="dim">{model.more_steps} more are only in the record.</p>}
    </div>
  )
}

function StepRow({
  step,
  model,
  selected,
}: {
  readonly step: StepModel
  readonly model: RunModel
  readonly selected: boolean
}) {
  const { began, ended } = step
  return (
    <tr class={selected ? 'selected' : ''}>
      <td>
        <StateBadge state={step.state} small />
      </td>
      <td style={{ paddingLeft: `${step.depth * 16}px` }}>
        <button
          type="button"
          class="quiet mono"
          aria-pressed={selected}
          onClick={() => selectStep(step.key)}
        >
          {step.name}
        </button>
      </td>
      <td class="dim">{step.kind ?? ''}</td>
      <td class="right number">{step.tries > 1 ? step.tries : ''}</td>
      <td class="right number">
        {began === undefined ? '' : formatDuration(Math.max(0, began - model.created) / 1000)}
      </td>
      <td class="right">
        {began === undefined || step.state === 'skipped' ? (
          ''
        ) : ended === undefined ? (
          <Since at={began} />
        ) : (
          <Took seconds={(ended - began) / 1000} />
        )}
      </td>
      <td>{step.run_id !== undefined && <RunLink id={step.run_id} />}</td>
      <td class="wide">
        {step.percent !== undefined && step.state === 'running' ? (
          <Bar percent={step.percent} label={`Progress of ${step.name}`} />
        ) : step.error !== undefined ? (
          <span class="bad words" title={step.error}>
            {step.error}
          </span>
        ) : (
          <span class="words" title={step.last}>
            {step.last ?? ''}
          </span>
        )}
      </td>
    </tr>
  )
}
