import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createKeyGeneralizer } from '../../../../src/views/model/graph-status.ts'
import { Loading, Problem } from '../../parts/notes.tsx'
import { lookOf } from '../../parts/state-badge.tsx'
import { TabPanel, Tabs, chosenTab } from '../../parts/tabs.tsx'
import type { Tab } from '../../parts/tabs.tsx'
import { announce } from '../../state/announce.ts'
import { late } from '../late.tsx'
import type { ScreenProps } from '../screen.ts'
import { readSelection } from './live/selection.ts'
import { useRun } from './live/use-run.ts'
import type { LiveRun } from './live/use-run.ts'
import { TimelineView } from './timeline/timeline-view.tsx'
import { RunHeader } from './top/header.tsx'

// Tabs that show what is selected; the others show the run as a whole.
const SELECTING: readonly string[] = ['steps', 'graph', 'events', 'logs']

// What stands behind a tab is loaded with it, and the table of errors with a failure.
const EventsTab = late(async () => (await import('./events/events-tab.tsx')).EventsTab)
const LogsTab = late(async () => (await import('./logs/logs-tab.tsx')).LogsTab)
const StepsTab = late(async () => (await import('./tabs/steps-tab.tsx')).StepsTab)
const GraphTab = late(async () => (await import('./tabs/graph-tab.tsx')).GraphTab)
const Others = late(async () => (await import('./tabs/other-tabs.tsx')).OtherTabs)
const FailureCard = late(async () => (await import('./top/failure-card.tsx')).FailureCard)
const OpenQuestions = late(async () => (await import('./top/open-questions.tsx')).OpenQuestions)

/** One run: how it stands, what it did when, and everything that is on its record. */
export function RunScreen({ parts }: ScreenProps) {
  const { run, error } = useRun(parts[1] ?? '')
  if (!run)
    return error ? (
      <Problem error={error}>
        <p>
          <a href="/runs">All runs</a>
        </p>
      </Problem>
    ) : (
      <Loading what="Reading the run" />
    )
  return <Run run={run} />
}

function Run({ run }: { readonly run: LiveRun }) {
  const { model, detail } = run
  const before = useRef(model.state)
  useEffect(() => {
    if (before.current !== model.state) announce(`The run is ${lookOf(model.state).word}`)
    before.current = model.state
  }, [model.state])
  const selection = readSelection(model.created)
  const generalize = useMemo(() => createKeyGeneralizer(detail.workflow?.steps ?? []), [detail])
  const isSelected = (key: string): boolean =>
    selection.step !== undefined && (key === selection.step || generalize(key) === selection.step)
  const tabs: readonly Tab[] = [
    ...(detail.workflow ? [{ id: 'graph', label: 'Graph' }] : []),
    ...(model.steps.length > 0
      ? [{ id: 'steps', label: 'Steps', count: model.steps.length + model.more_steps }]
      : []),
    { id: 'events', label: 'Events', count: model.seq },
    { id: 'logs', label: 'Logs' },
    { id: 'io', label: 'Input & result' },
    {
      id: 'artifacts',
      label: 'Artifacts',
      count: Math.max(detail.artifacts.length, model.artifacts),
    },
    { id: 'attempts', label: 'Attempts', count: model.attempts.length },
    { id: 'environment', label: 'Environment & policy' },
    { id: 'tree', label: 'Children & parent', count: detail.children.length },
  ]
  // Chosen once: what is under the eyes of a reader does not change by itself.
  const [first] = useState(() =>
    detail.workflow
      ? 'graph'
      : model.steps.length > 0
        ? 'steps'
        : model.state === 'completed'
          ? 'io'
          : 'events',
  )
  const tab = chosenTab(tabs, 'tab', first)
  return (
    <>
      <RunHeader run={run} />
      {(model.state === 'failed' || model.state === 'cancelled') && <FailureCard model={model} />}
      {model.state === 'waiting_ai' && <OpenQuestions run={run} />}
      {model.attempts.length > 0 && (
        <TimelineView run={run} selection={selection} isSelected={isSelected} />
      )}
      <div>
        <Tabs items={tabs} label="Parts of the run" first={first} />
        <TabPanel items={tabs} first={first}>
          {tab === 'steps' && <StepsTab run={run} isSelected={isSelected} />}
          {tab === 'graph' && detail.workflow && (
            <GraphTab workflow={detail.workflow} model={model} step={selection.step} />
          )}
          {tab === 'events' && <EventsTab run={run} selection={selection} />}
          {tab === 'logs' && <LogsTab run={run} selection={selection} />}
          {!SELECTING.includes(tab) && <Others tab={tab} run={run} />}
        </TabPanel>
      </div>
    </>
  )
}
