import { useState } from 'preact/hooks'
import type { ArtifactVerification, ShownArtifact } from '../../../../src/views/model/api.ts'
import { formatBytes } from '../../../../src/views/model/format-bytes.ts'
import { ActionButton, CopyButton } from '../../parts/buttons.tsx'
import { runPath } from '../../parts/links.tsx'
import { Empty } from '../../parts/notes.tsx'
import { Table } from '../../parts/table.tsx'
import { announce } from '../../state/announce.ts'
import { post } from '../../state/api.ts'

const VERDICTS: {
  readonly [state in ArtifactVerification['state']]: {
    readonly role: string
    readonly words: string
  }
} = {
  same: { role: 'ok', words: '✓ unchanged' },
  changed: { role: 'bad', words: '✗ changed since it was recorded' },
  gone: { role: 'bad', words: '✗ gone' },
  unknown: { role: 'dim', words: '? nothing to compare it with' },
}

/**
 * The files that a run has left: what they are, whether they are still what they were, and how to
 * get them.
 */
export function ArtifactsTab({
  id,
  artifacts,
}: {
  readonly id: string
  readonly artifacts: readonly ShownArtifact[]
}) {
  if (artifacts.length === 0) return <Empty title="This run has left no files" />
  const typed = artifacts.some(({ type }) => type !== undefined)
  return (
    <Table
      label="Artifacts"
      rows={artifacts}
      rowKey={({ index }) => index}
      columns={[
        { head: 'Name', class: 'wrap', cell: ({ name }) => <strong>{name}</strong> },
        { head: 'Path', class: 'wrap mono dim', cell: (artifact) => <Place artifact={artifact} /> },
        typed && { head: 'Type', cell: ({ type }) => type },
        {
          head: 'Size',
          class: 'right number',
          cell: ({ bytes }) => bytes !== undefined && formatBytes(bytes),
        },
        {
          head: 'sha256',
          cell: ({ sha256 }) =>
            sha256 !== undefined && (
              <span class="line">
                <code title={sha256}>{sha256.slice(0, 12)}</code>
                <CopyButton text={sha256} label="Copy the hash" short />
              </span>
            ),
        },
        {
          head: 'As it was recorded?',
          cell: (artifact) => <Verification run={id} artifact={artifact} />,
        },
        {
          head: <span class="hidden">Download</span>,
          cell: ({ index, name, kept }) =>
            kept && (
              <a class="button" href={`/api${runPath(id)}/artifacts/${index}`} download={name}>
                Download
              </a>
            ),
        },
      ]}
    />
  )
}

function Place({ artifact: { path, uri = '–' } }: { readonly artifact: ShownArtifact }) {
  if (path !== undefined) return <>{path}</>
  if (!/^https?:\/\//i.test(uri)) return <>{uri}</>
  return (
    <a href={uri} target="_blank" rel="noreferrer noopener">
      {uri}
    </a>
  )
}

function Verification({
  run,
  artifact: { index, name, sha256 },
}: {
  readonly run: string
  readonly artifact: ShownArtifact
}) {
  const [verdict, setVerdict] = useState<ArtifactVerification>()
  const verify = async (): Promise<void> => {
    const found = await post<ArtifactVerification>(`${runPath(run)}/artifacts/${index}/verify`)
    setVerdict(found)
    announce(`${name}: ${VERDICTS[found.state].words}`)
  }
  return (
    <span class="line">
      {sha256 !== undefined && <ActionButton label="Verify now" harmless run={verify} />}
      {verdict && (
        <span class={VERDICTS[verdict.state].role} role="status" title={verdict.sha256}>
          {VERDICTS[verdict.state].words}
        </span>
      )}
    </span>
  )
}
