import { useState } from 'preact/hooks'
import { formatDuration } from '../../../../src/views/model/format.ts'
import type { StepModel } from '../../../../src/views/model/run-model.ts'
import { Quiet } from '../../parts/buttons.tsx'
import { RunLink } from '../../parts/links.tsx'
import { Bar } from '../../parts/run-cells.tsx'
import { StateBadge } from '../../parts/state-badge.tsx'
import { Table } from '../../parts/table.tsx'
import { Span } from '../../parts/time.tsx'
import type { LiveRun } from './live.ts'
import { selectStep } from './selection.ts'

const AT_FIRST = 100

/** The steps of a run in a table. */
export default function StepsTab({
  run: { model },
  isSelected,
}: {
  readonly run: LiveRun
  isSelected(key: string): boolean
}) {
  const [all, setAll] = useState(false)
  const steps = all ? model.steps : model.steps.slice(0, AT_FIRST)
  return (
    <>
      <Table
        label="Steps"
        rows={steps}
        rowKey={({ key }) => key}
        isSelected={({ key }) => isSelected(key)}
        columns={[
          { head: 'State', cell: ({ state }) => <StateBadge state={state} small /> },
          {
            head: 'Step',
            cell: (step) => <StepName step={step} isSelected={isSelected(step.key)} />,
          },
          { head: 'Kind', class: 'dim', cell: ({ kind }) => kind },
          { head: 'Tries', class: 'right number', cell: ({ tries }) => tries > 1 && tries },
          {
            head: 'Began after',
            class: 'right number',
            cell: ({ began }) =>
              began !== undefined && formatDuration(Math.max(0, began - model.created) / 1000),
          },
          {
            head: 'Took',
            class: 'right',
            cell: (step) =>
              step.began !== undefined && step.state !== 'skipped' && <Span span={step} />,
          },
          { head: 'Run', cell: ({ run_id: id }) => id !== undefined && <RunLink id={id} /> },
          { head: 'Last message', class: 'wide', cell: (step) => <LastMessage step={step} /> },
        ]}
      />
      {model.steps.length > steps.length && (
        <Quiet onClick={() => setAll(true)}>{model.steps.length - steps.length} more steps</Quiet>
      )}
      {model.more_steps > 0 && <p class="dim">{model.more_steps} more are only in the record.</p>}
    </>
  )
}

function StepName({
  step: { key, name, depth },
  isSelected,
}: {
  readonly step: StepModel
  readonly isSelected: boolean
}) {
  return (
    <span style={{ paddingLeft: `${depth * 16}px` }}>
      <Quiet class="mono" aria-pressed={isSelected} onClick={() => selectStep(key)}>
        {name}
      </Quiet>
    </span>
  )
}

function LastMessage({
  step: { name, state, percent, error, last },
}: {
  readonly step: StepModel
}) {
  if (percent !== undefined && state === 'running')
    return <Bar percent={percent} label={`Progress of ${name}`} />
  return (
    <span class={error === undefined ? 'words' : 'bad words'} title={error ?? last}>
      {error ?? last}
    </span>
  )
}
