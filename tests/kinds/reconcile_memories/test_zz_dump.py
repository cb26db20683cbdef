import json, pathlib
from tests.support.sqlapi import Api
def test_dump(api: Api) -> None:
    d = json.loads(pathlib.Path("tests/memories/reconcile_pairs.json").read_text("utf8"))
    out = []
    for kind, rows in d.items():
        for r in rows:
            row = api.query("""select to_jsonb(x) from (select memory._claim(%(a)s::text,'english','{}') as a, memory._claim(%(b)s::text,'english','{}') as b) as x""", a=r["older"], b=r["newer"])[0][0]
            f = api.query("""select memory._is_about_the_same(a,b,false) as same, memory._is_about_the_same(a,b,true) as near, memory._may_be_reworded(a,b) as rew, memory._shared_topics(a,b) as shared from (select %(a)s::jsonb as a,%(b)s::jsonb as b) as x""", a=json.dumps(row["a"]), b=json.dumps(row["b"]))[0]
            out.append({**r, "kind": kind, "a": row["a"], "b": row["b"], "same": f.same, "near": f.near, "rew": f.rew, "shared": f.shared})
    pathlib.Path("/tmp/e10/dump.json").write_text(json.dumps(out))
