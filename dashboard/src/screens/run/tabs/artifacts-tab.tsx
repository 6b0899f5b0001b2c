import { useState } from 'preact/hooks'
import { formatBytes } from '../../../../../src/views/model/format-bytes.ts'
import type { ShownArtifact, ArtifactVerification } from '../../../../../src/views/model/api.ts'
import { ActionButton } from '../../../parts/action-button.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { Empty } from '../../../parts/notes.tsx'
import { announce } from '../../../state/announce.ts'
import { post } from '../../../state/api.ts'

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
    <div class="scroll-x">
      <table aria-label="Artifacts">
        <thead>
          <tr>
            <th>Name</th>
            <th>Path</th>
            {typed && <th>Type</th>}
            <th class="right">Size</th>
            <th>sha256</th>
            <th>As it was recorded?</th>
            <th>
              <span class="hidden">Download</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {artifacts.map((artifact) => (
            <ArtifactRow key={artifact.index} id={id} artifact={artifact} typed={typed} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ArtifactRow({
  id,
  artifact: { index, name, path, uri, bytes, sha256, type, kept },
  typed,
}: {
  readonly id: string
  readonly artifact: ShownArtifact
  readonly typed: boolean
}) {
  const [verdict, setVerdict] = useState<ArtifactVerification>()
  const at = `/runs/${encodeURIComponent(id)}/artifacts/${index}`
  const verify = async (): Promise<void> => {
    const found = await post<ArtifactVerification>(`${at}/verify`)
    setVerdict(found)
    announce(`${name}: ${VERDICTS[found.state].words}`)
  }
  return (
    <tr>
      <td class="wrap">
        <strong>{name}</strong>
      </td>
      <td class="wrap mono dim">
        {path ??
          (uri !== undefined && /^https?:\/\//i.test(uri) ? (
            <a href={uri} target="_blank" rel="noreferrer noopener">
              {uri}
            </a>
          ) : (
            uri
          )) ??
          '–'}
      </td>
      {typed && <td>{type ?? ''}</td>}
      <td class="right number">{bytes === undefined ? '' : formatBytes(bytes)}</td>
      <td>
        {sha256 !== undefined && (
          <span class="line">
            <code title={sha256}>{sha256.slice(0, 12)}</code>
            <CopyButton text={sha256} label="Copy the hash" short />
          </span>
        )}
      </td>
      <td>
        <span class="line">
          {sha256 !== undefined && <ActionButton label="Verify now" harmless run={verify} />}
          {verdict && (
            <span class={VERDICTS[verdict.state].role} role="status" title={verdict.sha256}>
              {VERDICTS[verdict.state].words}
            </span>
          )}
        </span>
      </td>
      <td>
        {kept && (
          <a class="button" href={`/api${at}`} download={name}>
            Download
          </a>
        )}
      </td>
    </tr>
  )
}
