import type { PlanList, ShownPlan } from '../../../src/views/model/api.ts'
import { Path, RunLink } from '../parts/links.tsx'
import { Empty, Missing } from '../parts/notes.tsx'
import { Bar } from '../parts/run-cells.tsx'
import { StateBadge } from '../parts/state-badge.tsx'
import { Ago } from '../parts/time.tsx'
import { useDocument, useNews } from '../state/resource.ts'
import type { ScreenProps } from './table.tsx'

const LOOKS = {
  pending: ['dim', '○', 'pending'],
  in_progress: ['run', '◐', 'in progress'],
  done: ['ok', '✓', 'done'],
} as const

/** The screen Plan: what agents have set out to do, and how far they are. */
export default function PlanScreen(_: ScreenProps) {
  const { value, error, reload } = useDocument<PlanList>('/plans')
  useNews(reload)
  if (!value) return <Missing error={error} what="Looking for plans" />
  const open = value.plans.filter(({ plan }) => plan.status === 'active').length
  return (
    <>
      <div class="title-row">
        <h1>Plan</h1>
        <span class="dim">
          {open} active, {value.plans.length - open} completed
        </span>
      </div>
      {value.plans.length === 0 && (
        <Empty title="There is no plan">
          <p>An agent makes one with the tools of a planner; by hand:</p>
          <pre>
            toolable plan setup "Ship version 2" "Mend the failing test" "Write the release notes"
          </pre>
        </Empty>
      )}
      <div class="cards">
        {value.plans.map((one) => (
          <PlanCard key={one.run?.run_id ?? one.file ?? one.plan.objective} shown={one} />
        ))}
      </div>
    </>
  )
}

function PlanCard({ shown: { plan, run, file, changed } }: { readonly shown: ShownPlan }) {
  const done = plan.steps.filter(({ status }) => status === 'done').length
  return (
    <section class="card plan stack" aria-label={plan.objective}>
      <h2>{plan.objective}</h2>
      <div class="line">
        <Bar
          percent={plan.steps.length === 0 ? undefined : (done / plan.steps.length) * 100}
          label={`${done} of ${plan.steps.length} steps done`}
        />
        <span class="dim number">
          {done} of {plan.steps.length} steps done
        </span>
      </div>
      <ol>
        {plan.steps.map(({ step_id, title, status }) => {
          const [role, symbol, word] = LOOKS[status]
          return (
            <li key={step_id} class={status}>
              <span class={role} title={word}>
                <span aria-hidden="true">{symbol}</span>
                <span class="hidden">{word}: </span>
              </span>{' '}
              <span>{title}</span>
            </li>
          )
        })}
      </ol>
      <p class="line dim">
        {run ? (
          <>
            <StateBadge state={run.state} small />
            <RunLink id={run.run_id} />
          </>
        ) : (
          <Path path={file} />
        )}{' '}
        changed <Ago at={changed} />
      </p>
    </section>
  )
}
