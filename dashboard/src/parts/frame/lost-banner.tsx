import { useEffect, useState } from 'preact/hooks'
import { connection, lastNewsAt, refusal } from '../../state/stream.ts'
import { Ago, timeText } from '../time.tsx'

/** Says that what is shown may be old, since when, and what to do; nothing while news come. */
export function LostBanner() {
  const isLost = connection.value === 'lost'
  const [late, setLate] = useState(false)
  useEffect(() => {
    // A stream that is taken up at once is not worth a word.
    const timer = isLost ? setTimeout(() => setLate(true), 700) : undefined
    if (!isLost) setLate(false)
    return () => clearTimeout(timer)
  }, [isLost])
  if (!isLost || !late) return null
  return (
    <div class="banner" role="alert">
      <strong>
        {refusal.value
          ? 'The server does not let this page in.'
          : 'The connection to the server is lost.'}
      </strong>{' '}
      {refusal.value ? (
        <>
          Open the address that <code>toolable ui</code> printed.{' '}
        </>
      ) : (
        'Trying again … '
      )}
      {lastNewsAt.value !== undefined && (
        <span>
          Last news{' '}
          <span title={timeText(lastNewsAt.value)}>
            <Ago at={lastNewsAt.value} />
          </span>
          .
        </span>
      )}
    </div>
  )
}
