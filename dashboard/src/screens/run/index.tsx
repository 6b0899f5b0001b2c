import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { createKeyGeneralizer } from '../../../../src/views/model/graph-status.ts'
import { lazy } from '../../parts/lazy.tsx'
import { Missing } from '../../parts/notes.tsx'
import { getLook } from '../../parts/state-badge.tsx'
import type { Tab } from '../../parts/tabs.tsx'
import { chosenTab, TabPanel, Tabs } from '../../parts/tabs.tsx'
import { announce } from '../../state/announce.ts'
import type { ScreenProps } from '../table.tsx'
import { RunHeader } from './header.tsx'
import type { LiveRun } from './live.ts'
import { useRun } from './live.ts'
import { readSelection } from './selection.ts'
import { TimelineView } from './timeline.tsx'

// Tabs that show what is selected; the others show the run as a whole.
const SELECTING: readonly string[] = ['steps', 'graph', 'events', 'logs']

// What stands behind a tab is loaded with it, and the table of errors with a failure.
const EventsTab = lazy(() => import('./events-tab.tsx'))
const LogsTab = lazy(() => import('./logs-tab.tsx'))
const StepsTab = lazy(() => import('./steps-tab.tsx'))
const GraphTab = lazy(() => import('./graph-tab.tsx'))
const Others = lazy(() => import('./other-tabs.tsx'))
const FailureCard = lazy(() => import('./failure-card.tsx'))
const OpenQuestions = lazy(() => import('./open-questions.tsx'))

/** One run: how it stands, what it did when, and everything that is on its record. */
export default function RunScreen({ parts }: ScreenProps) {
  const { run, error } = useRun(parts[1] ?? '')
  if (!run)
    return (
      <Missing error={error} what="Reading the run">
        <a href="/runs">All runs</a>
      </Missing>
    )
  return <Run run={run} />
}

function Run({ run }: { readonly run: LiveRun }) {
  const { model, detail } = run
  const before = useRef(model.state)
  useEffect(() => {
    if (before.current !== model.state) announce(`The run is ${getLook(model.state).word}`)
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
  const [first] = useState(() => chooseTab(run))
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

function chooseTab({ detail, model }: LiveRun): string {
  if (detail.workflow) return 'graph'
  if (model.steps.length > 0) return 'steps'
  return model.state === 'completed' ? 'io' : 'events'
}
