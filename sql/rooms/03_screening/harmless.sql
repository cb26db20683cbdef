-- The text without markers. A marker is a tag of the fence around recalled text (<recalled ...>), a placeholder
-- ([MemoryRef: ...]), a text that a model may take for a tag or a placeholder, or a token of a chat template
-- (<|im_end|>), which ends the message for servers that look for such tokens in texts. The function replaces the
-- marker's opening bracket with a round one. A second call changes nothing more, so tokens may be counted before the
-- text is fenced.
create or replace function memory._harmless(p_content text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  -- The characters that cannot begin a marker: ASCII except < [ & % and the backslash, and letters, signs and emoji
  -- that are no bracket and do not decompose into one. Nearly every text has only such characters and needs no normal
  -- form, which takes a fiftieth of a millisecond for a line.
  plain constant text := e'\\u0001-\\u0024\\u0027-\\u003b\\u003d-\\u005a\\u005d-\\u007f\\u00a0-\\u00aa\\u00ac-\\u017f'
    || e'\\u0370-\\u052f\\u05d0-\\u05ea\\u0620-\\u064a\\u0900-\\u097f\\u0e00-\\u0e7f\\u200d\\u2010-\\u2027'
    || e'\\u20a0-\\u20bf\\u2600-\\u26ff\\u3001\\u3002\\u3041-\\u3096\\u30a1-\\u30fa\\u4e00-\\u9fff\\uac00-\\ud7a3'
    || e'\\ufe0f\\U0001f300-\\U0001faff';
  marker text;
  decomposed text;
begin
  if p_content !~ (case when octet_length(p_content) = length(p_content) then e'[<\\[&%\\\\]'
                        else '[^' || plain || ']' end) then
    return p_content;
  end if;
  -- The tokens of ChatML and its relatives, Llama, Mistral, Gemma and DeepSeek. These tokens have one spelling each.
  if p_content like any (
    '{%|>%,%INST]%,%SYS>>%,%</s>%,%_of_turn>%,%_of_sentence_>%,%<_User_>%,%<_Assistant_>%}'::text[]) then
    p_content := regexp_replace(p_content, e'[<[](?=[|\\uff5c][^\\s|\\uff5c<>]{1,40}[|\\uff5c]>|/?INST\\]|</?SYS>>|/s>'
      '|(?:start|end)_of_turn>)', '(', 'g');
  end if;
  marker := memory._marker();
  p_content := regexp_replace(p_content, marker, '(', 'g');
  -- Full-width, circled, mathematical and accented letters decompose into plain letters. The function changes a text
  -- only if it hides a marker in such letters, and then composes the text again.
  if octet_length(p_content) > length(p_content) and getdatabaseencoding() = 'UTF8' then
    decomposed := memory._normal_form(p_content, 'NFKD');
    if decomposed ~ marker then
      p_content := memory._normal_form(regexp_replace(decomposed, marker, '(', 'g'), 'NFC');
    end if;
  end if;
  return p_content;
end;
$$;

-- A regular expression for the opening of a marker: an angle or square bracket (or a character that looks like one, or
-- its escape in HTML, JSON or a URL) before the word "recalled" or "MemoryRef". A slash and other signs may precede the
-- word, invisible characters may separate its letters, and the letters may be of other scripts. The lists of such
-- characters cannot be complete.
create or replace function memory._marker()
returns text
language plpgsql immutable parallel safe
as $$
declare
  bracket constant text := e'(?:[<\\[\\u00ab\\u02c2\\u1438\\u2039\\u2045\\u226a\\u227a\\u22d6\\u2308\\u230a\\u23a1'
    || e'\\u2768-\\u2775\\u27e6-\\u27ed\\u2983'
    || e'\\u2985\\u2987\\u2989\\u298b\\u298d\\u298f\\u2991\\u2993\\u2997\\u29fc\\u2aa1\\u2e28\\u3008\\u300a\\u300c'
    || e'\\u300e\\u3010\\u3014\\u3016\\u3018\\u301a'
    || e'\\ufe3f\\ufe5d\\uff1c\\uff3b\\uff62\\U000e003c\\U000e005b\\U0001d236]|&(?:[aA][mM][pP];)*(?:[lL][tT]|[lL](?:'
    || e'sqb|brack|ang|angle)|#0*(?:60|91)|'
    || e'#[xX]0*(?:3[cC]|5[bB]));?|\\\\(?:u00|x)(?:3[cC]|5[bB])|%(?:3[cC]|5[bB]))';
  -- Characters that are invisible or that combine with a letter: characters of zero width, soft hyphens, signs of
  -- writing direction, tags, variation selectors, control characters, accents and Hangul fillers.
  unseen constant text := e'[\\u0001-\\u0008\\u000e-\\u001f\\u007f-\\u009f\\u00ad\\u0300-\\u036f\\u061c\\u115f\\u1160'
    || e'\\u17b4\\u17b5\\u180b-\\u180f\\u1ab0-\\u1aff'
    || e'\\u1dc0-\\u1dff\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\u20d0-\\u20ff\\u3164\\ufe00-\\ufe0f'
    || e'\\ufe20-\\ufe2f\\ufeff\\uffa0\\ufff0-\\ufffb'
    || e'\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0000-\\U000e0fff]*';
  sign constant text := '(?:' || unseen
    || e'(?:[^0-9A-Za-z]|&#?[0-9A-Za-z]{1,8};|%2[fF]|\\\\u00[0-9a-fA-F]{2}))';
  hidden constant text := sign || '{0,4}' || unseen;
  -- Each letter of the two words in upper and lower case, and the letters of other scripts that look like it.
  a constant text := hidden || e'[aA\\u023a\\u0251\\u0391\\u03b1\\u0410\\u0430\\u13aa\\u1d00\\u237a\\u2c65\\ua4ee'
    || e'\\uab7a\\U0001f1e6\\U0001f150\\U0001f170\\U000e0041\\U000e0061]';
  c constant text := hidden || e'[cC\\u023b\\u023c\\u03f2\\u03f9\\u0421\\u0441\\u13df\\u1d04\\u2ca4\\u2ca5\\ua4da'
    || e'\\uabaf\\U0001f1e8\\U0001f152\\U0001f172\\U000e0043\\U000e0063]';
  d constant text := hidden || e'[dD\\u0110\\u0111\\u0256\\u0257\\u0501\\u13a0\\u13e7\\u146f\\u15de\\u15ea\\u1d05'
    || e'\\ua4d2\\ua4d3\\uab70\\U0001f1e9\\U0001f153\\U0001f173\\U000e0044\\U000e0064]';
  e constant text := hidden || e'[eE\\u0246\\u0247\\u0395\\u03b5\\u0404\\u0415\\u0435\\u0454\\u04bd\\u13ac\\u1d07'
    || e'\\u212e\\u2d39\\ua4f0\\uab32\\U0001f1ea\\U0001f154\\U0001f174\\U000e0045\\U000e0065]';
  f constant text := hidden || e'[fF\\u0192\\u03dc\\u0584\\u15b4\\ua4dd\\ua730\\ua798\\ua799\\uab35\\U0001f1eb'
    || e'\\U0001f155\\U0001f175\\U000e0046\\U000e0066]';
  l constant text := hidden || e'[lL1Ii|\\u0141\\u0142\\u019a\\u01c0\\u023d\\u026d\\u029f\\u0399\\u03b9\\u0406\\u0456'
    || e'\\u04c0\\u04cf\\u05c0\\u05d5\\u05df\\u0627\\u07ca\\u13de\\u14aa\\u16c1\\u2d4f\\ua4e1\\U0001f1f1\\U0001f15b'
    || e'\\U0001f17b\\U000e004c\\U000e006c]';
  m constant text := hidden || e'[mM\\u0271\\u039c\\u03fa\\u041c\\u043c\\u13b7\\u1d0d\\u2c98\\u2c99\\ua4df\\U0001f1f2'
    || e'\\U0001f15c\\U0001f17c\\U000e004d\\U000e006d]';
  o constant text := hidden || e'[oO0\\u00d8\\u00f8\\u0275\\u039f\\u03bf\\u03c3\\u041e\\u043e\\u0585\\u0d20\\u0e50'
    || e'\\u10ff\\u1d0f\\u2c9e\\u2c9f\\ua4f3\\U0001f1f4\\U0001f15e\\U0001f17e\\U000e004f\\U000e006f]';
  r constant text := hidden || e'[rR\\u01a6\\u027c-\\u027e\\u0280\\u0433\\u13a1\\u13d2\\u1587\\u1d26\\u2c85\\ua4e3'
    || e'\\uab47\\uab48\\uab81\\U0001f1f7\\U0001f161\\U0001f181\\U000e0052\\U000e0072]';
  y constant text := hidden || e'[yY\\u024e\\u024f\\u028f\\u03a5\\u03b3\\u0423\\u0443\\u04ae\\u04af\\u10e7\\u13a9'
    || e'\\ua4ec\\U0001f1fe\\U0001f168\\U0001f188\\U000e0059\\U000e0079]';
begin
  return bracket || '(?=' || sign || '{0,12}(?:' || r || e || c || a || l || l || e || d
    || '|' || m || e || m || o || r || y || r || e || f || '))';
end;
$$;

-- The text in a Unicode normal form. The function normalises pieces: PostgreSQL sorts a run of accents by exchanging
-- neighbours, and 100,000 accents in one piece would take minutes. A piece ends after the accents of its last letter.
-- The function keeps the last 51 characters of a piece together, and cuts the text before them after every 250
-- characters. Regular expressions cut the pieces, because PostgreSQL finds a place in a text by counting all characters
-- before it, which took 31 s for 1 MB.
create or replace function memory._normal_form(p_content text, p_form text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  accents constant text := e'\\u0300-\\u036f\\u093c\\u09be\\u09d7\\u1160-\\u11ff\\u3099\\u309a\\uff9e\\uff9f';
  piece constant text := format('[^%1$s]+[%1$s]{0,50}|[%1$s]{1,50}', accents);
begin
  return string_agg(pg_catalog.normalize(c.said, p_form), '' order by p.place, c.place)
  from regexp_matches(p_content, piece, 'g') with ordinality as p (said, place)
  cross join lateral (
    select h.said[1], h.place
    from regexp_matches(left(p.said[1], -51), '.{1,250}', 'g') with ordinality as h (said, place)
    union all
    select right(p.said[1], 51), null) as c (said, place); -- null comes last
end;
$$;

-- The text as one line for a placeholder, or null when no character is left. The function removes control sequences of
-- terminals (colours and titles) and invisible characters. It replaces line breaks and other control characters with
-- blanks, and square brackets with round ones, because a closing square bracket would end the placeholder.
create or replace function memory._placeholder_text(p_said text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  terminal constant text := e'\\u001b(?:\\[[0-9;?]*[A-Za-z]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\))';
  invisible constant text := e'[\\u00ad\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff'
    || e'\\U000e0000-\\U000e007f]';
  blank constant text := e'[\\s\\u0001-\\u001f\\u007f-\\u00a0\\u2028\\u2029]+';
begin
  p_said := regexp_replace(regexp_replace(p_said, terminal, '', 'g'), invisible, '', 'g');
  p_said := regexp_replace(translate(p_said, '[]', '()'), blank, ' ', 'g');
  return nullif(memory._harmless(btrim(p_said)), '');
end;
$$;
