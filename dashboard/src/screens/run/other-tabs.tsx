import { ArtifactsTab } from './artifacts-tab.tsx'
import { AttemptsTab } from './attempts-tab.tsx'
import { EnvironmentTab } from './environment-tab.tsx'
import { InputTab } from './input-tab.tsx'
import type { LiveRun } from './live.ts'
import { TreeTab } from './tree-tab.tsx'

/** The tabs that show the run as a whole: small ones, which come in one piece. */
export default function OtherTabs({ tab, run }: { readonly tab: string; readonly run: LiveRun }) {
  const { model, detail } = run
  if (tab === 'io') return <InputTab run={run} />
  if (tab === 'artifacts') return <ArtifactsTab id={model.run_id} artifacts={detail.artifacts} />
  if (tab === 'attempts') return <AttemptsTab model={model} />
  return tab === 'tree' ? <TreeTab detail={detail} /> : <EnvironmentTab run={run} />
}
