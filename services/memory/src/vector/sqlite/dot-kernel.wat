;; Dot products of one vector with many: out[i] = a . rows[i] for i in 0..count.
;; All numbers are f32; the rows follow each other without gaps. width, the numbers per row, is a multiple of 16.
;; Addresses are bytes.
(module
  (import "vectors" "memory" (memory 1))

  (func (export "dots")
    (param $a i32) (param $rows i32) (param $count i32) (param $width i32) (param $out i32)
    (local $at i32) (local $end i32) (local $outEnd i32)
    (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)

    (local.set $end (i32.add (local.get $a) (i32.shl (local.get $width) (i32.const 2))))
    (local.set $outEnd (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))))

    (block $done
      (loop $eachRow
        (br_if $done (i32.ge_u (local.get $out) (local.get $outEnd)))
        (local.set $at (local.get $a))
        (local.set $s0 (v128.const f32x4 0 0 0 0))
        (local.set $s1 (v128.const f32x4 0 0 0 0))
        (local.set $s2 (v128.const f32x4 0 0 0 0))
        (local.set $s3 (v128.const f32x4 0 0 0 0))

        ;; Four independent sums, so that no addition waits for the one before.
        (loop $eachSixteen
          (local.set $s0 (f32x4.add (local.get $s0)
            (f32x4.mul (v128.load (local.get $at)) (v128.load (local.get $rows)))))
          (local.set $s1 (f32x4.add (local.get $s1)
            (f32x4.mul (v128.load offset=16 (local.get $at)) (v128.load offset=16 (local.get $rows)))))
          (local.set $s2 (f32x4.add (local.get $s2)
            (f32x4.mul (v128.load offset=32 (local.get $at)) (v128.load offset=32 (local.get $rows)))))
          (local.set $s3 (f32x4.add (local.get $s3)
            (f32x4.mul (v128.load offset=48 (local.get $at)) (v128.load offset=48 (local.get $rows)))))
          (local.set $rows (i32.add (local.get $rows) (i32.const 64)))
          (local.set $at (i32.add (local.get $at) (i32.const 64)))
          (br_if $eachSixteen (i32.lt_u (local.get $at) (local.get $end))))

        (local.set $s0 (f32x4.add (f32x4.add (local.get $s0) (local.get $s1)) (f32x4.add (local.get $s2) (local.get $s3))))
        (f32.store (local.get $out)
          (f32.add
            (f32.add (f32x4.extract_lane 0 (local.get $s0)) (f32x4.extract_lane 1 (local.get $s0)))
            (f32.add (f32x4.extract_lane 2 (local.get $s0)) (f32x4.extract_lane 3 (local.get $s0)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br $eachRow))))
)
