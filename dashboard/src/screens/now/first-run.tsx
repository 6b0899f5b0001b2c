import { CopyButton } from '../../parts/copy-button.tsx'
import { Empty } from '../../parts/notes.tsx'

const STEPS = [
  { command: 'toolable init --language python', what: 'writes a first tool, hello' },
  { command: 'toolable run hello --who World', what: 'runs it, on record' },
  { command: 'toolable runs show latest', what: 'shows how it went; so does this page' },
] as const

/** What to do where nothing has ever run. */
export function FirstRun() {
  return (
    <Empty title="Nothing has run here yet">
      <p>Three commands in the folder of the project make a first run:</p>
      <ol class="first-run">
        {STEPS.map(({ command, what }) => (
          <li key={command}>
            <code>{command}</code>
            <CopyButton text={command} label={`Copy ${command}`} short />
            <span>{what}</span>
          </li>
        ))}
      </ol>
    </Empty>
  )
}
